//! Two endpoints and a path of 25 ms between them, which loses packets at random.

use std::collections::BTreeMap;

use oorandom::Rand64;

use super::*;

const MS: Duration = Duration::from_millis(1);
const DEADLINE: Duration = Duration::from_millis(250);

/// The result of a run.
struct Outcome {
    sent: u32,
    /// The messages that arrived, each with the time that it took.
    arrived: BTreeMap<u32, Duration>,
    packets: u32,
    repeated: u32,
    /// The repeats of a message at the end.
    repeats: u8,
}

impl Outcome {
    fn lost(&self) -> f64 {
        1.0 - self.arrived.len() as f64 / f64::from(self.sent)
    }
}

/// Sends `count` messages, 30 per second in clusters of 40 with pauses of a second. The path loses
/// the share `loss` of the packets in both directions.
fn run(scheme: Scheme, loss: f64, count: u32) -> Outcome {
    let mut ends = [0, 1].map(|_| Endpoint::new(scheme, DEADLINE));
    let mut outcome =
        Outcome { sent: count, arrived: BTreeMap::new(), packets: 0, repeated: 0, repeats: 0 };
    let mut random = Rand64::new(1);
    let mut under_way: BTreeMap<(Duration, u32), (usize, Vec<u8>)> = BTreeMap::new();
    let (mut next, mut sent_at) = (Duration::ZERO, Vec::new());
    let (mut now, mut packet) = (Duration::ZERO, Vec::new());
    while now < next + 10 * DEADLINE {
        if sent_at.len() < count as usize && next <= now {
            let number = sent_at.len() as u32;
            ends[0].send(now, Duration::ZERO, &number.to_be_bytes()).unwrap();
            sent_at.push(now);
            next = now + if number % 40 == 39 { 1000 * MS } else { 33 * MS };
        }
        while under_way.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, (end, packet))) = under_way.pop_first() else { break };
            let came = |message: Delivery<'_>| {
                let number = u32::from_be_bytes(message.payload.try_into().unwrap());
                let took = now - sent_at[number as usize];
                assert!(outcome.arrived.insert(number, took).is_none(), "{number} came twice");
            };
            ends[end].receive(now, &packet, came).unwrap();
        }
        for (end, other) in [(0, 1), (1, 0)] {
            ends[end].expire(now);
            while let Some(made) = ends[end].transmit(now, &mut packet) {
                outcome.packets += 1;
                outcome.repeated += made.repeated;
                if random.rand_float() >= loss {
                    under_way.insert((now + 25 * MS, outcome.packets), (other, packet.clone()));
                }
            }
        }
        now += MS;
    }
    outcome.repeats = ends[0].repeats();
    outcome
}

#[test]
fn fec_repeats_each_message_n_times_also_at_the_end_of_a_cluster() {
    let outcome = run(Scheme::Fec(3), 0.0, 400);
    assert_eq!(outcome.arrived.len(), 400);
    assert_eq!(outcome.repeated, 3 * 400);
    // After each of ten clusters the repeats of the last message take three packets.
    assert_eq!(outcome.packets, 400 + 10 * 3);
}

#[test]
fn fec_3_loses_what_is_lost_four_times() {
    let outcome = run(Scheme::Fec(3), 0.2, 8000);
    assert!(outcome.lost() < 0.005, "{}", outcome.lost());
    assert!(outcome.arrived.values().all(|took| *took <= DEADLINE));
    let plain = run(Scheme::Fec(0), 0.2, 8000);
    assert!((0.18..0.22).contains(&plain.lost()), "{}", plain.lost());
    assert_eq!((plain.packets, plain.repeated), (8000, 0));
}

#[test]
fn the_controller_holds_its_band() {
    let outcome = run(Scheme::Afec(Controller::default()), 0.2, 20_000);
    assert!((0.03..0.08).contains(&outcome.lost()), "{}", outcome.lost());
    assert!(outcome.repeats >= 1, "{}", outcome.repeats);
    let clean = run(Scheme::Afec(Controller::default()), 0.0, 2000);
    assert_eq!((clean.lost(), clean.repeats, clean.repeated), (0.0, 0, 0));
}

#[test]
fn a_repeat_is_not_sent_after_its_deadline() {
    // Seven intervals of 33 ms and 50 ms for the path are less than 250 ms, ten are more.
    let outcome = run(Scheme::Fec(10), 0.0, 400);
    assert!(outcome.repeated < 8 * 400, "{}", outcome.repeated);
}

#[test]
fn a_malformed_packet_is_an_error_or_harmless() {
    let mut sender = Endpoint::new(Scheme::Fec(1), DEADLINE);
    let mut packet = Vec::new();
    sender.send(Duration::ZERO, Duration::ZERO, b"one message").unwrap();
    assert!(sender.transmit(Duration::ZERO, &mut packet).is_some());
    for len in 0..packet.len() {
        let mut end = Endpoint::new(Scheme::Fec(1), DEADLINE);
        let read = end.receive(MS, &packet[..len], |_| panic!("a part of a message came"));
        // A header without messages is a packet.
        assert_eq!(read.is_ok(), len == 5, "{len}");
    }
    let mut random = Rand64::new(2);
    let mut end = Endpoint::new(Scheme::Afec(Controller::default()), DEADLINE);
    for nth in 0..20_000u32 {
        let mut bytes = packet.clone();
        for _ in 0..3 {
            let place = random.rand_range(0..bytes.len() as u64) as usize;
            bytes[place] = random.rand_u64() as u8;
        }
        let _ = end.receive(MS * nth, &bytes, |_| {});
        while end.transmit(MS * nth, &mut Vec::new()).is_some() {}
    }
    assert!(end.memory() < 32 << 10, "{}", end.memory());
}

#[test]
fn a_message_that_fits_no_packet_is_refused() {
    let mut end = Endpoint::new(Scheme::Fec(1), DEADLINE);
    let error = end.send(Duration::ZERO, Duration::ZERO, &[0; 1200]).unwrap_err();
    assert_eq!(error.to_string(), "a message of 1200 bytes does not fit into a packet");
}
