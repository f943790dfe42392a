//! Packets whose messages the caller codes: the endpoint plans and judges them.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::Duration;

use groupwire_afec::{
    Arrival, Config, Endpoint, Order, PacketError, PacketSummary, Planned, Qos, Submission,
};
use proptest::prelude::*;

const CHANNEL: u32 = 3;
const MS: Duration = Duration::from_millis(1);

fn ends(qos: Qos) -> [Endpoint; 2] {
    let config = Config { repeat_price: Some(4.0), ..Config::default() };
    [0, 1].map(|_| {
        let mut end = Endpoint::new(config);
        end.open(CHANNEL, qos).unwrap();
        end
    })
}

/// A short header and the messages of the packet.
struct Packet {
    header: Vec<u8>,
    messages: Vec<Arrival>,
    made: PacketSummary,
}

fn transmit(end: &mut Endpoint, now: Duration, forced: bool) -> Option<Packet> {
    let (mut header, mut messages) = (Vec::new(), Vec::new());
    let plan = |planned: Planned<'_>| {
        messages.push(Arrival {
            channel: planned.channel,
            index: planned.index,
            key: (planned.back > 0).then_some((7, planned.back)),
            age: MS * planned.age,
            repeated: planned.repeated,
        });
    };
    let made = end.transmit_with(now, forced, &mut header, plan)?;
    end.on_sent(now, header.len() + 5 * messages.len());
    end.on_coded(made.bytes as usize, 5 * messages.len());
    Some(Packet { header, messages, made })
}

fn receive(end: &mut Endpoint, now: Duration, packet: &Packet) -> Result<(), PacketError> {
    let header = end.receive_header(now, &packet.header)?;
    let one_way = header.way.unwrap_or_default() + header.queued;
    packet.messages.iter().try_for_each(|message| {
        end.on_message(now, &Arrival { age: message.age + one_way, ..*message })
    })
}

#[test]
fn more_messages_at_once_than_a_channel_keeps_are_all_sent() {
    // The history of a channel keeps 32 messages, and 8 KB.
    for (count, size) in [(60, 4), (20, 900), (60, 200)] {
        let [mut here, _] = ends(Qos::new());
        // With this compression ratio many messages fit into one packet.
        here.on_coded(100_000, 1000);
        let payload = vec![1; size];
        for _ in 0..count {
            here.submit(MS, CHANNEL, Submission::new(&payload)).unwrap();
        }
        let mut sent = Vec::new();
        while let Some(packet) = transmit(&mut here, MS, false) {
            let new = packet.messages.iter().filter(|message| !message.repeated).count();
            assert_eq!(new, packet.made.new as usize);
            sent.extend(packet.messages.iter().filter(|one| !one.repeated).map(|one| one.index));
        }
        let first = sent[0];
        assert_eq!(sent, (first..first + count).collect::<Vec<_>>(), "{count} of {size} bytes");
    }
}

#[test]
fn a_fifth_of_the_packets_is_lost_and_the_target_is_met() {
    let [mut here, mut there] = ends(Qos { target: 0.025, order: Order::AsTheyCome, ..Qos::new() });
    let mut random = oorandom::Rand32::new(11);
    let (mut headers, mut packets) = (0, 0);
    for nth in 0..2000u32 {
        let now = MS * 40 * nth;
        let message = Submission::new(b"{\"x\":100,\"y\":200}");
        here.submit(now, CHANNEL, message).unwrap();
        while let Some(packet) = transmit(&mut here, now, false) {
            headers += packet.header.len();
            packets += 1;
            if random.rand_range(0..5) > 0 {
                receive(&mut there, now + MS * 20, &packet).unwrap();
            }
        }
        while let Some(packet) = transmit(&mut there, now + MS * 21, false) {
            assert_eq!(packet.made.new, 0);
            receive(&mut here, now + MS * 41, &packet).unwrap();
        }
    }
    let stats = there.received(CHANNEL).unwrap();
    assert!(stats.mer() < 0.03, "{stats:?}");
    assert!(headers < packets * 5, "{headers} bytes before {packets} packets");
}

#[test]
fn reported_misses_raise_or_lower_the_number_of_repeats() {
    let repeats = |beyond: f64| {
        let qos = Qos { target: 0.02, order: Order::Newest, deadline: MS * 60, ..Qos::new() };
        let [mut here, mut there] = ends(qos);
        let mut random = oorandom::Rand32::new(5);
        let mut repeated = 0;
        for nth in 0..2000u32 {
            let now = MS * 40 * nth;
            let message = Submission { key: 7, ..Submission::new(b"{\"x\":100,\"y\":200}") };
            here.submit(now, CHANNEL, message).unwrap();
            for later in [0, 20] {
                while let Some(packet) = transmit(&mut here, now + MS * later, false) {
                    repeated += packet.made.repeated;
                    if random.rand_range(0..5) > 0 {
                        receive(&mut there, now + MS * (later + 10), &packet).unwrap();
                        there.report_misses(CHANNEL, beyond);
                    }
                }
            }
            while let Some(packet) = transmit(&mut there, now + MS * 31, false) {
                receive(&mut here, now + MS * 39, &packet).unwrap();
            }
        }
        repeated
    };
    let (many, few) = (repeats(0.1), repeats(-0.1));
    assert!(many > few + few / 2, "{many} and {few}");
}

#[test]
fn after_a_long_silence_no_packet_counts_as_old() {
    let [mut here, mut there] = ends(Qos::new());
    for nth in 0..1000u32 {
        let now = MS * 40 * nth;
        let packet = transmit(&mut here, now, true).unwrap();
        // 300 consecutive packets of a thousand are lost.
        if !(100..400).contains(&nth) {
            receive(&mut there, now + MS * 20, &packet).unwrap();
            assert_eq!(receive(&mut there, now + MS * 21, &packet), Err(PacketError::Duplicate));
        }
    }
    assert!(there.loss().rate < 0.5);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(packets in proptest::collection::vec(any::<Vec<u8>>(), 1..30)) {
        let [_, mut there] = ends(Qos::new());
        for (nth, mut packet) in packets.into_iter().enumerate() {
            let now = MS * 10 * nth as u32;
            if let Some(flags) = packet.first_mut() {
                *flags = *flags & 0x3f | 0x40;
            }
            let _ = there.receive_header(now, &packet);
            let _ = transmit(&mut there, now, nth % 3 == 0);
        }
        prop_assert!(there.memory() < 64 << 10);
    }
}
