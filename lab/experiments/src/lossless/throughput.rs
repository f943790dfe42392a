//! The throughput of a link in one direction: the paper's maximum throughput, and TCP's share of
//! the bandwidth.

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

/// The size of a large message: the most that its length of two bytes allows even if packing does
/// not shrink it.
pub(super) const LARGE: usize = 60_000;
/// The number of different messages.
const DISTINCT: usize = 20;
/// The part of the time that is not measured, while TCP finds its rate.
const BEGINNING: f64 = 0.2;

/// A link, and the payload that fills it.
pub(super) struct StreamTest<'a> {
    pub(super) cable: &'a Cable,
    pub(super) mbit: f64,
    pub(super) hops: usize,
    pub(super) payload: &'a Payload,
    pub(super) time: Duration,
    pub(super) common: Common,
}

/// The messages and bytes that arrived, and the time they took.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    messages: usize,
    bytes: usize,
    packed: usize,
    wire: u64,
    seconds: f64,
}

impl StreamTest<'_> {
    /// Measures the throughput of the kernel's TCP, as iperf does.
    pub(super) fn bandwidth(&self) -> io::Result<Row> {
        let [mut client, mut server] = self.cable.connect()?;
        let end = Instant::now() + self.time;
        thread::scope(|scope| {
            scope.spawn(move || {
                let bytes = vec![0; 128 << 10];
                // Writing fails when the receiver has closed the connection because it has measured
                // enough.
                while Instant::now() < end && client.write_all(&bytes).is_ok() {}
            });
            let mut bytes = vec![0; 128 << 10];
            let tally = self.tally(|| {
                let count = server.read(&mut bytes)?;
                Ok((count > 0).then_some((count, count)))
            });
            // Shutting down fails if the sender is gone already.
            let _ = server.shutdown(Shutdown::Both);
            Ok(self.row(Part::Bandwidth, Contender::NONE, tally?, None))
        })
    }

    /// Measures the throughput of large messages, one behind the other, each packed, unpacked and
    /// checked.
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
                    // The length fits 16 bits: a message has 60,000 bytes at most, and a packed one
                    // hardly more.
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
            // Shutting down fails if the sender is gone already.
            let _ = server.shutdown(Shutdown::Both);
            Ok(self.row(Part::Throughput, Contender::Fixed(choice), tally?, failure))
        })
    }

    /// Counts the bytes that arrive once TCP has had time to begin.
    fn tally(
        &self,
        mut next: impl FnMut() -> io::Result<Option<(usize, usize)>>,
    ) -> io::Result<Tally> {
        let begin = Instant::now() + self.time.mul_f64(BEGINNING);
        let mut tally = Tally::default();
        let mut start = None;
        while let Some((bytes, packed)) = next()? {
            match start {
                None if Instant::now() >= begin => {
                    start = Some((Instant::now(), self.cable.received()?));
                }
                None => {}
                Some((time, wire)) => {
                    tally.messages += 1;
                    tally.bytes += bytes;
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
        let mbit = |bytes: f64| 8e-6 * bytes / tally.seconds.max(1e-9);
        let is_empty = (tally.messages == 0).then(|| "nothing came".to_owned());
        let link = (Some(self.mbit), self.hops);
        row(part, contender, (self.payload, LARGE), link, &self.common)
            .with("messages", tally.messages)
            .with("distinct", DISTINCT)
            .with("ratio", tally.bytes as f64 / tally.packed.max(1) as f64)
            .with("effective_mbit", mbit(tally.bytes as f64))
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
