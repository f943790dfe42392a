//! Two ends of a stream with a transport between them that the tests control.

use std::collections::VecDeque;
use std::time::Duration;

use groupwire_ace::{
    Candidate, Coders, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, Situation,
    StreamError,
};

/// Two ends, with the indices 0 and 1.
pub(crate) struct Pair {
    pub(crate) now: Duration,
    pub(crate) ends: [Duplex; 2],
    pub(crate) coders: Coders,
    /// Bytes in flight to each end.
    pub(crate) in_flight: [VecDeque<u8>; 2],
}

impl Pair {
    pub(crate) fn new(ends: [Duplex; 2]) -> Self {
        let in_flight = [VecDeque::new(), VecDeque::new()];
        Pair { now: Duration::ZERO, ends, coders: Coders::new(), in_flight }
    }

    /// Two ends with the same settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self::new([0, 1].map(|_| Duplex::new(settings).expect("the settings are right")))
    }

    /// Two ends with custom policies.
    pub(crate) fn with(settings: &Settings, policies: [Box<dyn Policy>; 2]) -> Self {
        Self::new(
            policies.map(|policy| {
                Duplex::with_policy(settings, policy).expect("the settings are right")
            }),
        )
    }

    /// Calls `work` of an end once. The clock advances by a microsecond with each call.
    pub(crate) fn work(&mut self, end: usize) -> bool {
        let now = &mut self.now;
        let mut clock = || {
            *now += Duration::from_micros(1);
            *now
        };
        self.ends[end].work(&mut self.coders, &mut clock).expect("nothing is wrong")
    }

    /// Moves at most `most` bytes from the output of an end to the transport and returns their
    /// number.
    pub(crate) fn take(&mut self, end: usize, most: usize) -> usize {
        let output = self.ends[end].output();
        let bytes = output.len().min(most);
        self.in_flight[1 - end].extend(&output[..bytes]);
        self.ends[end].sent(self.now, bytes);
        bytes
    }

    /// Moves at most `most` bytes from the transport to an end and returns their number.
    pub(crate) fn give(&mut self, end: usize, most: usize) -> usize {
        let wanted = self.ends[end].wanted().min(most).min(self.in_flight[end].len());
        let bytes: Vec<u8> = self.in_flight[end].drain(..wanted).collect();
        let taken = self.ends[end].receive(self.now, &bytes).expect("nothing is wrong");
        assert_eq!(taken, bytes.len(), "wanted bytes are accepted");
        taken
    }

    /// Works and moves bytes until nothing more can happen without the applications.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut moved = 0;
            for end in [0, 1] {
                moved += usize::from(self.work(end));
                moved += self.take(end, usize::MAX);
                moved += self.give(end, usize::MAX);
                if self.in_flight[end].is_empty() {
                    self.ends[end].starved(self.now);
                }
            }
            self.now += Duration::from_micros(100);
            if moved == 0 {
                return;
            }
        }
    }

    /// Reads all bytes that can be read at an end.
    pub(crate) fn read(&mut self, end: usize) -> Vec<u8> {
        let mut read = Vec::new();
        loop {
            self.settle();
            let bytes = self.ends[end].readable();
            if bytes.is_empty() {
                return read;
            }
            read.extend_from_slice(bytes);
            let bytes = bytes.len();
            self.ends[end].read(bytes);
        }
    }

    /// Writes bytes at one end and returns the bytes that were read at the other end.
    pub(crate) fn carry(&mut self, from: usize, mut bytes: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        while !bytes.is_empty() {
            let taken = self.ends[from].write(bytes);
            bytes = &bytes[taken..];
            let received = self.read(1 - from);
            assert!(taken > 0 || !received.is_empty(), "no byte was moved");
            read.extend(received);
        }
        self.ends[from].flush();
        read.extend(self.read(1 - from));
        read
    }
}

/// A policy that chooses the candidates round-robin, with a fixed window.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) window: usize,
    pub(crate) nth: usize,
    pub(crate) delivered: Vec<Delivered>,
}

impl RoundRobin {
    pub(crate) fn new(candidates: &[&str]) -> Box<Self> {
        let candidates = candidates.iter().map(|name| name.parse().expect("a candidate"));
        Box::new(RoundRobin {
            candidates: candidates.collect(),
            window: usize::MAX,
            nth: 0,
            delivered: Vec::new(),
        })
    }
}

impl Policy for RoundRobin {
    fn choose(&mut self, _: Duration, block: &[u8], _: &Situation) -> Decision {
        assert!(!block.is_empty());
        let candidate = self.candidates[self.nth % self.candidates.len()];
        self.nth += 1;
        Decision { candidate }
    }

    fn packed(&mut self, _: Duration, packed: &Packed) {
        assert!(packed.wire <= packed.plain && packed.wire > 0);
    }

    fn delivered(&mut self, _: Duration, delivered: &Delivered) {
        assert!(delivered.blocks > 0 && delivered.wire > 4);
        self.delivered.push(*delivered);
    }

    fn peer_has(&mut self, codecs: u16, _: bool) {
        assert_eq!(codecs & 3, 3);
    }

    fn window(&self) -> usize {
        self.window
    }

    fn forecast(&self) -> Forecast {
        Forecast::default()
    }
}

/// Text without repeated lines, which compresses to about a half.
pub(crate) fn text(bytes: usize) -> Vec<u8> {
    let mut random = oorandom::Rand32::new(7);
    let mut text = Vec::with_capacity(bytes + 40);
    while text.len() < bytes {
        let line = format!("{} at {:08x}; ", random.rand_range(0..90), random.rand_u32());
        text.extend_from_slice(line.as_bytes());
    }
    text.truncate(bytes);
    text
}

/// Passes bytes to an end and returns what it reads, or its error.
pub(crate) fn receive_all(end: &mut Duplex, mut bytes: &[u8]) -> Result<Vec<u8>, StreamError> {
    let (mut coders, mut read) = (Coders::new(), Vec::new());
    loop {
        let taken = end.receive(Duration::ZERO, bytes)?;
        bytes = &bytes[taken..];
        let worked = end.work(&mut coders, &mut || Duration::ZERO)?;
        read.extend_from_slice(end.readable());
        end.read(usize::MAX);
        if !worked && taken == 0 {
            return Ok(read);
        }
    }
}
