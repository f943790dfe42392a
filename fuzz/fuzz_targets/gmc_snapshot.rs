//! Any bytes as a snapshot: they give an error, or a decoder that takes any packets.

#![no_main]

use groupwire_gmc::{Config, Decoder, Delivery, Encoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, place, bits, data @ ..] = data else { return };
    let delivery = match choice % 3 {
        0 => Delivery::Ordered,
        1 => Delivery::Datagrams,
        _ => Delivery::Room,
    };
    let config = Config { delivery, memory: 16 << 10, ..Config::default() };
    // The bytes themselves as a snapshot, and then a damaged snapshot of a model that has learned
    // them as messages.
    try_snapshot(&config, data, data);
    let mut encoder = Encoder::new(config.clone());
    for message in data.chunks(24).take(40) {
        encoder.encode(message, &mut Vec::new()).expect("within the limits");
    }
    let mut snapshot = Vec::new();
    encoder.snapshot(&mut snapshot);
    Decoder::from_snapshot(config.clone(), &snapshot).expect("an encoder made it");
    let place = usize::from(*place) * snapshot.len() / 256;
    snapshot[place] ^= bits;
    try_snapshot(&config, &snapshot, data);
});

fn try_snapshot(config: &Config, snapshot: &[u8], packet: &[u8]) {
    if let Ok(mut decoder) = Decoder::from_snapshot(config.clone(), snapshot) {
        let _ = decoder.decode_packet(packet, |_| {});
        decoder.acknowledge(&mut Vec::new());
    }
}
