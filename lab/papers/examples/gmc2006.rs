//! Measures the paper's compressor on a trace, as its Tables 4 and 5 do; every message is decoded
//! and compared.
//!
//! ```text
//! cargo run --release -p groupwire-papers --example gmc2006 -- TRACE [PROFILE [MESSAGES [BUDGET]]]
//! ```
//!
//! A trace is a file of records, each a little-endian u32 length and the bytes of a message.
//! PROFILE is `gmc2006` or `plus`. MESSAGES is the number of messages in a packet (1). BUDGET is
//! the microseconds that a message may take before the target ratio is lowered no further; `-`, the
//! default, keeps the target at 30 %, so that the result does not depend on the machine.

use std::error::Error;
use std::time::{Duration, Instant};

use groupwire_papers::gmc2006::{Announced, Config, Decoder, Encoder, Profile};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let trace = args.next().ok_or("give me a trace")?;
    let messages = read_trace(&std::fs::read(&trace)?)?;
    let profile = match args.next().as_deref() {
        None | Some("gmc2006") => Profile::Gmc2006,
        Some("plus") => Profile::Gmc2006Plus,
        Some(other) => return Err(format!("no such profile: {other}").into()),
    };
    let per_packet: usize = args.next().map_or(Ok(1), |number| number.parse())?;
    let budget = args.next().filter(|budget| budget != "-");
    let mut config = Config { profile, ..Config::default() };
    if let Some(budget) = &budget {
        config.time_budget = Duration::from_micros(budget.parse()?);
    }

    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config);
    let (mut encoding, mut decoding) = (Duration::ZERO, Duration::ZERO);
    let mut packet_bytes = 0;
    let (mut announcements, mut packet) = (Vec::new(), Vec::new());
    for messages in messages.chunks(per_packet) {
        announcements.clear();
        packet.clear();
        let start = Instant::now();
        if per_packet == 1 {
            encoder.encode(&messages[0], &mut announcements, &mut packet)?;
        } else {
            let messages = messages.iter().map(Vec::as_slice);
            encoder.encode_packet(messages, &mut announcements, &mut packet)?;
        }
        let time = start.elapsed();
        if budget.is_some() {
            encoder.took(time / messages.len() as u32);
        }
        encoding += time;
        packet_bytes += packet.len();

        let start = Instant::now();
        let mut decoded = Vec::new();
        decoder.announce(&announcements)?;
        if per_packet == 1 {
            let mut message = Vec::new();
            decoder.decode(&packet, &mut message)?;
            decoded.push(message);
        } else {
            decoder.decode_packet(&packet, |message| decoded.push(message.to_vec()))?;
        }
        decoding += start.elapsed();
        if decoded != messages {
            return Err("a message was not decoded to what was encoded".into());
        }
    }

    let count = messages.len() as f64;
    let original = messages.iter().map(Vec::len).sum::<usize>() as f64;
    let overhead = encoder.overhead();
    let all = packet_bytes as f64 + overhead.bytes() as f64;
    println!(
        "{trace}: {} messages of {:.1} B: {:.2} B/message, {:.1} % ({:.2} in packets, {:.2} \
         announced), encode {:.1} us, decode {:.1} us, target {:.1} %, {} templates, {} B of memory",
        messages.len(),
        original / count,
        all / count,
        100.0 * all / original,
        packet_bytes as f64 / count,
        overhead.bytes() as f64 / count,
        encoding.as_secs_f64() * 1e6 / count,
        decoding.as_secs_f64() * 1e6 / count,
        f64::from(encoder.target_ratio()) / 100.0,
        encoder.templates(),
        encoder.memory(),
    );
    let cell = |Announced { count, bytes, .. }| format!("{count} ({bytes} bytes)");
    println!(
        "  templates {}, dictionary additions {}, frequency lists {}, composite templates {}",
        cell(overhead.templates),
        cell(overhead.dictionary_additions),
        cell(overhead.frequency_lists),
        cell(overhead.composite_templates),
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
