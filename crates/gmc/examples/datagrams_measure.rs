//! Measures a trace over datagrams: bytes and microseconds per message.
use groupwire_gmc::{Config, Decoder, Delivery, Encoder, Message};
use std::collections::VecDeque;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let messages = read_trace(&std::fs::read(&args[0])?)?;
    let memory: usize = args.get(1).map_or(Ok(65536), |a| a.parse())?;
    let per_packet: usize = args.get(2).map_or(Ok(1), |a| a.parse())?;
    let delay: usize = args.get(3).map_or(Ok(10), |a| a.parse())?;
    let loss: u32 = args.get(4).map_or(Ok(0), |a| a.parse())?;
    let config = Config { memory, delivery: Delivery::Datagrams, ..Config::default() };
    let mut encoder = Encoder::new(config.clone());
    let mut decoder = Decoder::new(config);
    let mut acks: VecDeque<(usize, Vec<u8>)> = VecDeque::new();
    let (mut total, mut half, mut ack_bytes, mut acks_n, mut arrived, mut failed) =
        (0, 0, 0, 0, 0, 0);
    let (mut enc, mut dec) = (0f64, 0f64);
    let mut enc_memory = 0;
    let mut dec_memory = 0;
    let mut state = 12345u32;
    let mut random = move |range: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % range
    };
    let mut packet = Vec::new();
    for (index, chunk) in messages.chunks(per_packet).enumerate() {
        let sent = index * per_packet;
        let t = Instant::now();
        while acks.front().is_some_and(|(at, _)| *at <= sent) {
            let (_, ack) = acks.pop_front().unwrap();
            encoder.acknowledge(&ack)?;
        }
        packet.clear();
        encoder
            .encode_packet(chunk.iter().map(|bytes| Message { fields: &[], bytes }), &mut packet)?;
        enc += t.elapsed().as_secs_f64();
        total += packet.len();
        if sent > messages.len() / 2 {
            half += packet.len();
        }
        enc_memory = enc_memory.max(encoder.memory());
        if random(100) < loss {
            continue;
        }
        let t = Instant::now();
        let mut got = Vec::new();
        match decoder.decode_packet(&packet, |m| got.push(m.bytes.to_vec())) {
            Ok(()) => {
                if got != chunk {
                    failed += 1;
                }
                arrived += chunk.len();
            }
            Err(error) => {
                if failed < 3 {
                    eprintln!(
                        "packet {} {error:?} {:02x?}",
                        encoder.newest(),
                        &packet[..packet.len().min(12)]
                    );
                }
                failed += 1
            }
        }
        let mut ack = Vec::new();
        decoder.acknowledge(&mut ack);
        dec += t.elapsed().as_secs_f64();
        dec_memory = dec_memory.max(decoder.memory());
        ack_bytes += ack.len();
        acks_n += 1;
        if random(100) >= loss {
            acks.push_back((sent + chunk.len() + delay, ack));
        }
    }
    let n = messages.len() as f64;
    println!(
        "{}: {:.3} B/message ({:.3} 2nd half), failed {failed}, arrived {arrived}, enc {:.2} us dec {:.2} us, ack {:.1} B, memory {} {}",
        args[0],
        total as f64 / n,
        half as f64 / (n / 2.0),
        enc * 1e6 / n,
        dec * 1e6 / n,
        ack_bytes as f64 / acks_n as f64,
        enc_memory,
        dec_memory
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
