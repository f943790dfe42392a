//! Measures a trace: bytes and microseconds per message.
//!
//! ```text
//! cargo run --release -p groupwire-gmc --example measure -- TRACE [SENDERS [MEMORY [MESSAGES]]]
//! ```
//!
//! A trace is a file of records, each a little-endian u32 length and the bytes of a message.
//! SENDERS is a file of lines with tab-separated columns, the second of which is the sender of the
//! message with the same number; `-` for none. MESSAGES is the number of messages in a packet.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use groupwire_gmc::{Config, Decoder, Encoder, Message};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let trace = args.next().ok_or("give me a trace")?;
    let messages = read_trace(&std::fs::read(&trace)?)?;
    let senders = match args.next() {
        Some(path) if path != "-" => read_senders(&std::fs::read_to_string(path)?, messages.len())?,
        _ => Vec::new(),
    };
    let fields = if senders.is_empty() { 0 } else { 2 };
    let mut config = Config { fields, ..Config::default() };
    if let Some(memory) = args.next() {
        config.memory = memory.parse()?;
    }
    let per_packet: usize = args.next().map_or(Ok(1), |number| number.parse())?;

    let fields: Vec<Vec<u32>> = (0..messages.len())
        .map(|index| senders.get(index).map_or(vec![], |&sender| vec![0, sender]))
        .collect();
    let batch: Vec<_> =
        messages.iter().zip(&fields).map(|(bytes, fields)| Message { fields, bytes }).collect();

    let mut encoder = Encoder::new(config.clone());
    let mut packets = Vec::new();
    let mut ends = Vec::new();
    let start = Instant::now();
    for messages in batch.chunks(per_packet) {
        encoder.encode_packet(messages.iter().copied(), &mut packets)?;
        ends.push(packets.len());
    }
    let encoding = start.elapsed();

    let mut decoder = Decoder::new(config);
    let mut starts = 0;
    let start = Instant::now();
    let mut decoded = 0;
    let mut wrong = 0;
    for &end in &ends {
        decoder.decode_packet(&packets[starts..end], |message| {
            wrong += usize::from(message != batch[decoded]);
            decoded += 1;
        })?;
        starts = end;
    }
    let decoding = start.elapsed();
    if wrong > 0 || decoded != batch.len() {
        return Err(format!("{wrong} of {decoded} messages are wrong").into());
    }

    let count = batch.len() as f64;
    let raw: usize = messages.iter().map(Vec::len).sum();
    let half = ends[ends.len() / 2];
    println!(
        "{trace}: {} messages of {:.1} B: {:.3} B/message ({:.3} in the second half), \
         encode {:.2} us, decode {:.2} us, {} B of state",
        batch.len(),
        raw as f64 / count,
        packets.len() as f64 / count,
        (packets.len() - half) as f64 / (count / 2.0),
        encoding.as_secs_f64() * 1e6 / count,
        decoding.as_secs_f64() * 1e6 / count,
        encoder.memory(),
    );
    Ok(())
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

/// Numbers the senders in the order of their first messages.
fn read_senders(text: &str, count: usize) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut numbers = HashMap::new();
    let senders: Option<Vec<u32>> = text
        .lines()
        .map(|line| {
            let next = numbers.len() as u32;
            Some(*numbers.entry(line.split('\t').nth(1)?).or_insert(next))
        })
        .collect();
    let senders = senders.ok_or("a line has no second column")?;
    if senders.len() == count { Ok(senders) } else { Err("not one sender per message".into()) }
}
