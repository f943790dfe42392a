//! Two ends of a stream that write, flush, finish, read and rest at any time, over a transport that
//! takes and gives as little as it likes, with blocks packed by anything: what is read is what was
//! written, and nothing hangs.
//!
//! The input is the sizes, then steps, each a byte and what it needs.

#![no_main]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use groupwire_ace::{
    Candidate, Coders, Decision, Delivered, Duplex, Forecast, Packed, Policy, Settings, Situation,
};
use groupwire_codecs::{ALL, Choice};
use groupwire_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// Beyond this the codecs' memory is given up: every level of every codec is more than anybody
/// needs.
const CODERS: usize = 256 << 20;

thread_local! {
    static CODERS_KEPT: RefCell<Coders> = RefCell::new(Coders::new());
}

fuzz_target!(|data: &[u8]| {
    CODERS_KEPT.with_borrow_mut(|coders| {
        let mut input = Input::new(data);
        let mut pair = Pair::new(&mut input, coders);
        while !input.is_empty() {
            let step = input.byte();
            pair.step(usize::from(step & 1), step >> 1, &mut input);
        }
        pair.finish();
        if coders.memory() > CODERS {
            *coders = Coders::new();
        }
    });
});

struct Pair<'a> {
    now: Duration,
    ends: [Duplex; 2],
    coders: &'a mut Coders,
    travelling: [VecDeque<u8>; 2],
    /// The bytes that were written at each end, and how many of them were read at the other end.
    written: [Vec<u8>; 2],
    read: [usize; 2],
    finished: [bool; 2],
}

impl<'a> Pair<'a> {
    fn new(input: &mut Input<'_>, coders: &'a mut Coders) -> Self {
        let ends = [0, 1].map(|_| {
            let sizes = Settings {
                block: [1 << 10, 1500, 4 << 10, 64 << 10][usize::from(input.byte()) % 4],
                history: [0, 1 << 10, 10_000, 128 << 10][usize::from(input.byte()) % 4],
                ..Settings::always(Candidate::NONE)
            };
            let window = [0, 20_000, 100_000, usize::MAX][usize::from(input.byte()) % 4];
            let policy = Any { state: input.number().into(), window };
            Duplex::with_policy(&sizes, Box::new(policy)).expect("the sizes are right")
        });
        Pair {
            now: Duration::ZERO,
            ends,
            coders,
            travelling: Default::default(),
            written: Default::default(),
            read: [0; 2],
            finished: [false; 2],
        }
    }

    fn step(&mut self, end: usize, step: u8, input: &mut Input<'_>) {
        self.now += Duration::from_micros(step.into());
        match step {
            0..20 => {
                let piece = input.piece();
                self.write(end, piece);
            }
            20..40 => {
                let (byte, length) = (input.byte(), usize::from(input.number()));
                let piece = [byte, byte ^ step, byte].repeat(length / 2);
                self.write(end, &piece);
            }
            40..50 => self.ends[end].flush(),
            50..70 => {
                self.work(end);
            }
            70..85 => {
                self.take(end, input.number().into());
            }
            85..100 => {
                self.give(end, input.number().into());
            }
            100..115 => {
                self.read(end, input.number().into());
            }
            115..118 => self.ends[end].starved(self.now),
            118..121 => self.ends[end].rest(),
            121 => {
                self.ends[end].finish();
                self.finished[end] = true;
            }
            _ => self.settle(),
        }
    }

    fn write(&mut self, end: usize, bytes: &[u8]) {
        let taken = self.ends[end].write(bytes);
        assert!(taken == 0 || !self.finished[end]);
        self.written[end].extend_from_slice(&bytes[..taken]);
    }

    fn work(&mut self, end: usize) -> bool {
        let now = &mut self.now;
        let mut clock = || {
            *now += Duration::from_micros(3);
            *now
        };
        self.ends[end].work(self.coders, &mut clock).expect("nothing is wrong")
    }

    fn take(&mut self, end: usize, most: usize) -> usize {
        let output = self.ends[end].output();
        let bytes = output.len().min(most);
        self.travelling[1 - end].extend(&output[..bytes]);
        self.ends[end].sent(self.now, bytes);
        bytes
    }

    fn give(&mut self, end: usize, most: usize) -> usize {
        let bytes = self.ends[end].wanted().min(most).min(self.travelling[end].len());
        let bytes: Vec<u8> = self.travelling[end].drain(..bytes).collect();
        let taken = self.ends[end].receive(self.now, &bytes).expect("nothing is wrong");
        assert_eq!(taken, bytes.len());
        taken
    }

    fn read(&mut self, end: usize, most: usize) -> usize {
        let bytes = self.ends[end].readable();
        let bytes = &bytes[..bytes.len().min(most)];
        let read = &mut self.read[1 - end];
        assert!(self.written[1 - end][*read..].starts_with(bytes), "it was written");
        *read += bytes.len();
        let bytes = bytes.len();
        self.ends[end].read(bytes);
        bytes
    }

    /// Lets both ends work, send, receive and read until nothing moves any more.
    fn settle(&mut self) {
        loop {
            let mut moved = 0;
            for end in [0, 1] {
                moved += usize::from(self.work(end));
                moved += self.take(end, usize::MAX);
                moved += self.give(end, usize::MAX);
                moved += self.read(end, usize::MAX);
            }
            if moved == 0 {
                return;
            }
        }
    }

    fn finish(&mut self) {
        self.ends.iter_mut().for_each(Duplex::finish);
        self.settle();
        for end in [0, 1] {
            assert_eq!(self.read[end], self.written[end].len(), "everything comes");
            assert!(self.ends[end].is_at_end() && self.ends[end].is_over());
            assert_eq!(self.ends[end].ended(), Ok(()));
            let report = self.ends[end].report();
            assert_eq!(report.plain_out, self.written[end].len() as u64);
            assert!(report.wire_out <= report.plain_out + report.plain_out.max(1) * 4);
        }
    }
}

/// Decides for anything, whether it can be packed or not.
#[derive(Debug)]
struct Any {
    state: u32,
    window: usize,
}

impl Policy for Any {
    fn choose(&mut self, _: Duration, block: &[u8], _: &Situation) -> Decision {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let random = self.state >> 8;
        let codec = (random % 16) as u8;
        let has_levels = ALL.iter().any(|one| one.number() == codec && one.levels().is_some());
        // The levels beyond 9 take too long where there is much to do.
        let highest = if block.len() < 5000 { 20 } else { 10 };
        let level = (has_levels && random & 32 != 0).then_some((random >> 8) as i8 % highest);
        let choice = Choice { level, ..Choice::codec(codec) };
        Decision { candidate: Candidate { choice, history: random & 64 != 0 } }
    }

    fn packed(&mut self, _: Duration, packed: &Packed) {
        assert!(packed.wire <= packed.plain);
    }

    fn delivered(&mut self, _: Duration, delivered: &Delivered) {
        assert!(delivered.blocks > 0);
    }

    fn peer_has(&mut self, _: u16, _: bool) {}

    fn window(&self) -> usize {
        self.window
    }

    fn forecast(&self) -> Forecast {
        Forecast::default()
    }
}
