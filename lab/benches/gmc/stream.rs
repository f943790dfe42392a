//! Time per message of a built-in session: four people point, type and move objects.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use groupwire_gmc::{Config, Decoder, Encoder, Message};

const MESSAGES: usize = 2000;

/// The session's messages with their fields: the channel and the sender.
fn session() -> Vec<([u32; 2], String)> {
    // A pointer's speed changes a little from message to message.
    let mut state = 1u32;
    let mut random = move |range: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % range) as i32
    };
    let mut people = [(300, 400, 0, 0); 4];
    (0..MESSAGES as i32)
        .map(|index| {
            let sender = index / 40 % 4;
            let (x, y, dx, dy) = &mut people[sender as usize];
            (*dx, *dy) =
                ((*dx + random(7) - 3).clamp(-40, 40), (*dy + random(7) - 3).clamp(-40, 40));
            (*x, *y) = ((*x + *dx).clamp(0, 1920), (*y + *dy).clamp(0, 1080));
            let frame = format!(
                r#""user":"b81d6e04-72aa-{sender}","ts":{}"#,
                1_718_000_000_000i64 + i64::from(index) * 33
            );
            match random(12) {
                0 => {
                    let letter = (b'a' + random(26) as u8) as char;
                    (
                        [1, sender as u32],
                        format!(r#"{{"type":"edit",{frame},"pos":{index},"insert":"{letter}"}}"#),
                    )
                }
                1 => (
                    [2, sender as u32],
                    format!(r#"{{"type":"move",{frame},"id":{},"x":{x},"y":{y}}}"#, random(3)),
                ),
                _ => {
                    ([0, sender as u32], format!(r#"{{"type":"pointer",{frame},"x":{x},"y":{y}}}"#))
                }
            }
        })
        .collect()
}

fn stream(criterion: &mut Criterion) {
    let session = session();
    let config = Config { fields: 2, ..Config::default() };
    let encode = || {
        let mut encoder = Encoder::new(config.clone());
        let encode = |(fields, text): &([u32; 2], String)| {
            let mut packet = Vec::new();
            encoder
                .encode_packet([Message { fields, bytes: text.as_bytes() }], &mut packet)
                .expect("the session keeps the limits");
            packet
        };
        session.iter().map(encode).collect::<Vec<_>>()
    };
    let packets = encode();
    let bytes: usize = packets.iter().map(Vec::len).sum();
    println!("{:.2} bytes per message", bytes as f64 / MESSAGES as f64);

    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Elements(MESSAGES as u64));
    group.bench_function("encode", |bencher| bencher.iter(|| black_box(encode())));
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            let mut decoder = Decoder::new(config.clone());
            for packet in &packets {
                decoder
                    .decode_packet(packet, |message| {
                        black_box(message);
                    })
                    .expect("an encoder made the packets");
            }
        });
    });
    group.finish();
}

criterion_group!(benches, stream);
criterion_main!(benches);
