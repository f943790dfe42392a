//! Two endpoints and a path of 25 ms between them, which loses packets at random.

use std::collections::BTreeMap;

use oorandom::Rand64;

use super::*;

const MS: Duration = Duration::from_millis(1);
const DEADLINE: Option<Duration> = Some(Duration::from_millis(250));

/// The result of a run.
#[derive(Default)]
struct Outcome {
    sent: u32,
    /// The messages that arrived, each with the time that it took.
    arrived: BTreeMap<u32, Duration>,
    packets: u32,
    repeated: u32,
    /// The repeats of a message at the end.
    repeats: u8,
    /// How often the number of repeats changed.
    changes: u32,
}

impl Outcome {
    fn lost(&self) -> f64 {
        1.0 - self.arrived.len() as f64 / f64::from(self.sent)
    }
}

/// Sends `count` messages, 30 per second in clusters of 40 with pauses of a second. The path loses
/// the share `loss` of the packets in both directions.
fn run(scheme: Scheme, deadline: Option<Duration>, loss: f64, count: u32) -> Outcome {
    let mut ends = [0, 1].map(|_| Endpoint::new(scheme, deadline));
    let mut outcome = Outcome { sent: count, ..Outcome::default() };
    let mut random = Rand64::new(1);
    let mut under_way: BTreeMap<(Duration, u32), (usize, Vec<u8>)> = BTreeMap::new();
    let (mut next, mut sent_at) = (Duration::ZERO, Vec::new());
    let (mut now, mut packet) = (Duration::ZERO, Vec::new());
    while now < next + 2500 * MS {
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
        outcome.changes += u32::from(ends[0].repeats() != outcome.repeats);
        outcome.repeats = ends[0].repeats();
        now += MS;
    }
    outcome
}

#[test]
fn fec_repeats_each_message_n_times_also_at_the_end_of_a_cluster() {
    let outcome = run(Scheme::Fec(3), DEADLINE, 0.0, 400);
    assert_eq!(outcome.arrived.len(), 400);
    assert_eq!(outcome.repeated, 3 * 400);
    // After each of ten clusters the repeats of the last message take three packets.
    assert_eq!(outcome.packets, 400 + 10 * 3);
}

#[test]
fn fec_3_loses_what_is_lost_four_times() {
    let outcome = run(Scheme::Fec(3), DEADLINE, 0.2, 8000);
    assert!(outcome.lost() < 0.005, "{}", outcome.lost());
    assert!(outcome.arrived.values().all(|took| Some(*took) <= DEADLINE));
    let plain = run(Scheme::Fec(0), DEADLINE, 0.2, 8000);
    assert!((0.18..0.22).contains(&plain.lost()), "{}", plain.lost());
    assert_eq!((plain.packets, plain.repeated), (8000, 0));
}

#[test]
fn the_controller_holds_its_band() {
    for deadline in [DEADLINE, None] {
        let outcome = run(Scheme::Afec(Controller::default()), deadline, 0.2, 20_000);
        assert!((0.03..0.08).contains(&outcome.lost()), "{}", outcome.lost());
        assert!(outcome.repeats >= 1, "{}", outcome.repeats);
        // Figure 10 has four changes in 1000 packets.
        assert!((40..=120).contains(&outcome.changes), "{}", outcome.changes);
        let clean = run(Scheme::Afec(Controller::default()), deadline, 0.0, 2000);
        assert_eq!((clean.lost(), clean.repeats, clean.repeated), (0.0, 0, 0));
    }
}

#[test]
fn a_repeat_is_not_sent_after_its_deadline() {
    // Seven intervals of 33 ms and 50 ms for the path are less than 250 ms, ten are more.
    let outcome = run(Scheme::Fec(10), DEADLINE, 0.0, 400);
    assert!(outcome.repeated < 8 * 400, "{}", outcome.repeated);
    assert_eq!(run(Scheme::Fec(10), None, 0.0, 400).repeated, 10 * 400);
}

/// A packet with the messages that `sender` has to send now.
fn packet(sender: &mut Endpoint, now: Duration) -> Vec<u8> {
    let mut packet = Vec::new();
    assert!(sender.transmit(now, &mut packet).is_some(), "a packet is due");
    packet
}

#[test]
fn without_a_deadline_only_what_never_comes_is_lost() {
    let settings = Controller { period: Duration::ZERO, ..Controller::default() };
    let mut sender = Endpoint::new(Scheme::Fec(1), None);
    let mut receiver = Endpoint::new(Scheme::Afec(settings), None);
    let mut steps = Vec::new();
    for number in 0..300u32 {
        let now = 33 * MS * number;
        sender.send(now, Duration::ZERO, &number.to_be_bytes()).unwrap();
        let packet = packet(&mut sender, now);
        // Every second packet is lost, and the next one brings its message, ten seconds late.
        if number % 2 == 1 {
            let mut came = Vec::new();
            let deliver = |message: Delivery<'_>| came.push(message.payload.to_vec());
            receiver.receive(now + 10_000 * MS, &packet, deliver).unwrap();
            let expected = [number - 1, number].map(|number| number.to_be_bytes().to_vec());
            assert_eq!(came, expected);
            steps.extend(receiver.receiver.report(now).map(|report| report.step));
        }
    }
    assert!(!steps.is_empty() && steps.iter().all(|step| *step == -1), "no loss: {steps:?}");
}

#[test]
fn a_message_is_lost_when_a_newer_one_comes_before_it() {
    let mut sender = Endpoint::new(Scheme::Fec(0), None);
    let mut receiver = Endpoint::new(Scheme::Fec(0), None);
    let packets: Vec<Vec<u8>> = (0..3u32)
        .map(|number| {
            let now = 33 * MS * number;
            sender.send(now, Duration::ZERO, &number.to_be_bytes()).unwrap();
            packet(&mut sender, now)
        })
        .collect();
    let mut came = Vec::new();
    for number in [0, 2, 1] {
        let deliver = |message: Delivery<'_>| came.push(message.payload[3]);
        receiver.receive(100 * MS, &packets[number], deliver).unwrap();
    }
    assert_eq!(came, [0, 2], "packets that were overtaken are discarded (section 3.3.1)");
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
