//! As much as goes over a link in one direction: the paper's maximum throughput, and what TCP makes of the bandwidth.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use groupwire_codecs::{ALL, Choice, Packer};

use super::connection::LENGTH;
use super::contender::Contender;
use super::payload::Payload;
use super::row::{Part, row};
use crate::Row;
use crate::emulator::Cable;
use crate::options::Common;

/// Of a large message: what its length, of two octets, allows even if nothing gets smaller.
pub(super) const LARGE: usize = 60_000;
/// Messages that differ from each other.
const DISTINCT: usize = 20;
/// Until TCP has found its rate.
const BEGINNING: f64 = 0.2;

/// A link and what goes over it.
pub(super) struct Stream<'a> {
    pub(super) cable: &'a Cable,
    pub(super) mbit: f64,
    pub(super) hops: usize,
    pub(super) payload: &'a Payload,
    pub(super) time: Duration,
    pub(super) common: Common,
}

/// What came.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    messages: usize,
    octets: usize,
    packed: usize,
    wire: u64,
    seconds: f64,
}

impl Stream<'_> {
    /// What the kernel's TCP carries, as iperf measures it.
    pub(super) fn bandwidth(&self) -> io::Result<Row> {
        let [mut client, mut server] = self.cable.connect()?;
        let end = Instant::now() + self.time;
        thread::scope(|scope| {
            scope.spawn(move || {
                let octets = vec![0; 128 << 10];
                // It fails once the receiver has seen enough.
                while Instant::now() < end && client.write_all(&octets).is_ok() {}
            });
            let mut octets = vec![0; 128 << 10];
            let tally = self.tally(|| {
                let count = server.read(&mut octets)?;
                Ok((count > 0).then_some((count, count)))
            });
            // The sender may be gone already.
            let _ = server.shutdown(Shutdown::Both);
            Ok(self.row(Part::Bandwidth, Contender::NONE, tally?, None))
        })
    }

    /// Large messages, one behind the other, each packed, unpacked and looked at.
    pub(super) fn throughput(&self, choice: Choice) -> io::Result<Row> {
        let messages = self.payload.messages(LARGE, DISTINCT, self.common.seed);
        let [mut client, mut server] = self.cable.connect()?;
        let end = Instant::now() + self.time;
        thread::scope(|scope| {
            let sent = messages.iter().cycle();
            scope.spawn(move || {
                let (mut packer, mut frame) = (Packer::new(ALL), Vec::new());
                for message in sent {
                    frame.clear();
                    frame.extend([0; LENGTH]);
                    if packer.pack(choice, message, &mut frame).is_err() {
                        return;
                    }
                    // It fits: a message has 60,000 octets at most, and a packed one hardly more.
                    let length = (frame.len() - LENGTH) as u16;
                    frame[..LENGTH].copy_from_slice(&length.to_le_bytes());
                    if Instant::now() >= end || client.write_all(&frame).is_err() {
                        return;
                    }
                }
            });
            let (mut packer, mut expected) = (Packer::new(ALL), messages.iter().cycle());
            let (mut packed, mut message, mut failure) = (Vec::new(), Vec::new(), None);
            let tally = self.tally(|| {
                if !read_packed(&mut server, &mut packed)? {
                    return Ok(None);
                }
                message.clear();
                if let Err(error) = packer.unpack(&packed, LARGE, &mut message) {
                    failure.get_or_insert(error.to_string());
                } else if Some(&message) != expected.next() {
                    failure.get_or_insert("what came was not what was sent".to_owned());
                }
                Ok(failure.is_none().then_some((message.len(), packed.len() + LENGTH)))
            });
            // The sender may be gone already.
            let _ = server.shutdown(Shutdown::Both);
            Ok(self.row(Part::Throughput, Contender::Fixed(choice), tally?, failure))
        })
    }

    /// Counts what comes once TCP has had time to begin.
    fn tally(
        &self,
        mut next: impl FnMut() -> io::Result<Option<(usize, usize)>>,
    ) -> io::Result<Tally> {
        let begin = Instant::now() + self.time.mul_f64(BEGINNING);
        let mut tally = Tally::default();
        let mut start = None;
        while let Some((octets, packed)) = next()? {
            match start {
                None if Instant::now() >= begin => {
                    start = Some((Instant::now(), self.cable.received()?));
                }
                None => {}
                Some((time, wire)) => {
                    tally.messages += 1;
                    tally.octets += octets;
                    tally.packed += packed;
                    tally.seconds = time.elapsed().as_secs_f64();
                    tally.wire = wire;
                }
            }
        }
        tally.wire = self.cable.received()?.saturating_sub(tally.wire);
        Ok(tally)
    }

    fn row(&self, part: Part, contender: Contender, tally: Tally, failure: Option<String>) -> Row {
        let mbit = |octets: f64| 8e-6 * octets / tally.seconds.max(1e-9);
        let is_empty = (tally.messages == 0).then(|| "nothing came".to_owned());
        let link = (Some(self.mbit), self.hops);
        row(part, contender, (self.payload, LARGE), link, &self.common)
            .with("messages", tally.messages)
            .with("distinct", DISTINCT)
            .with("ratio", tally.octets as f64 / tally.packed.max(1) as f64)
            .with("effective_mbit", mbit(tally.octets as f64))
            .with("wire_mbit", mbit(tally.wire as f64))
            .failed(failure.or(is_empty))
    }
}

/// Reads a packed message; false at the end of the stream.
fn read_packed(stream: &mut TcpStream, packed: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; LENGTH];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        read => read?,
    }
    packed.resize(usize::from(u16::from_le_bytes(length)), 0);
    stream.read_exact(packed)?;
    Ok(true)
}
