//! Measures snapshots on a trace: their bytes with and without compaction, the bytes that compaction costs later
//! packets, and its time.
//!
//! ```text
//! cargo run --release -p groupwire-gmc --example snapshots -- TRACE [MEMORY [room]]
//! ```
//!
//! A trace is a file of records, each a little-endian u32 length and the bytes of a message. In a room, packets are
//! acknowledged ten packets later.

use std::error::Error;
use std::time::Instant;

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};

/// Packets between a packet and its acknowledgement.
const DELAY: u32 = 10;
/// Messages before and after which bytes are counted.
const STARTS: [usize; 4] = [3000, 6000, 9000, 11_500];
const COUNTED: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let trace = args.next().ok_or("give me a trace")?;
    let messages = read_trace(&std::fs::read(&trace)?)?;
    let memory: usize = args.next().map_or(Ok(64 << 10), |number| number.parse())?;
    let delivery = match args.next().as_deref() {
        Some("room") => Delivery::Room,
        _ => Delivery::Ordered,
    };
    let config = Config { memory, delivery, ..Config::default() };

    let (mut bytes, mut bytes_compacted) = (0, 0);
    for start in STARTS.iter().copied().filter(|start| start + COUNTED <= messages.len()) {
        for compacts in [false, true] {
            let mut encoder = Encoder::new(config.clone());
            send(&mut encoder, &messages[..start])?;
            if compacts {
                encoder.compact();
            }
            let sent = send(&mut encoder, &messages[start..start + COUNTED])?;
            *if compacts { &mut bytes_compacted } else { &mut bytes } += sent;
        }
    }

    let mut encoder = Encoder::new(config.clone());
    // The epoch becomes that of the packet that asks for compaction.
    let waiting = if delivery == Delivery::Room { DELAY as usize } else { 0 };
    let (before, last) = messages.split_at(messages.len() - 1 - waiting);
    send(&mut encoder, before)?;
    let (exact, writing, reading) = snapshot(&encoder, &config)?;
    println!("{trace}: exact {exact} bytes, writing {writing:.2} ms, reading {reading:.2} ms");
    encoder.compact();
    send(&mut encoder, &last[..waiting])?;
    let clock = Instant::now();
    send(&mut encoder, &last[waiting..])?;
    let compacting = clock.elapsed().as_secs_f64() * 1e3;
    let (small, writing, reading) = snapshot(&encoder, &config)?;
    println!(
        "  compacted {small} bytes, writing {writing:.2} ms, reading {reading:.2} ms, compacting \
         {compacting:.2} ms; the next {COUNTED} messages take {:+.2} % more",
        (bytes_compacted as f64 / bytes.max(1) as f64 - 1.0) * 100.0
    );
    Ok(())
}

/// Sends messages, each acknowledged some packets later. Returns the bytes of the packets.
fn send(encoder: &mut Encoder, messages: &[Vec<u8>]) -> Result<usize, Box<dyn Error>> {
    let mut bytes = 0;
    let mut packet = Vec::new();
    for message in messages {
        packet.clear();
        encoder.encode(message, &mut packet)?;
        bytes += packet.len();
        encoder.advance(encoder.newest().saturating_sub(DELAY));
    }
    Ok(bytes)
}

/// Bytes of a snapshot, and milliseconds for writing and reading it.
fn snapshot(encoder: &Encoder, config: &Config) -> Result<(usize, f64, f64), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let clock = Instant::now();
    encoder.snapshot(&mut bytes);
    let writing = clock.elapsed().as_secs_f64() * 1e3;
    let clock = Instant::now();
    Decoder::from_snapshot(config.clone(), &bytes)?;
    Ok((bytes.len(), writing, clock.elapsed().as_secs_f64() * 1e3))
}

fn read_trace(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = u32::from_le_bytes(*length) as usize;
        let (message, rest) =
            rest.split_at_checked(length).ok_or("the trace ends inside a message")?;
        messages.push(message.to_vec());
        bytes = rest;
    }
    Ok(messages)
}
