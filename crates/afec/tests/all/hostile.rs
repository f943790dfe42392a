//! Hostile packets: an endpoint does not panic, keeps its limits of memory and packets, and works
//! again after the attack.

use std::time::Duration;

use groupwire_afec::code::{Code, Repeats};
use groupwire_afec::{Config, Endpoint, Order, Qos, Scheme, Submission};
use groupwire_sim::LinkConfig;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{World, losing, pointer};

/// The most memory of a channel in each direction, in bytes.
const CHANNEL: usize = 16 * 1024;
const CHANNELS: [u32; 3] = [3, 9, 200];
const ORDERS: [Order; 3] = [Order::AsTheyCome, Order::AsTheyCome, Order::Newest];

fn memory_max() -> usize {
    2 * CHANNEL * CHANNELS.len()
}

fn opened(scheme: Scheme) -> World {
    let mut world = World::new(Config { scheme, ..Config::default() }, &losing(0.0), 1);
    for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
        world.open(channel, pointer(order));
    }
    world
}

/// Both ends send messages on all channels.
fn talk(world: &mut World, messages: u32) {
    for nth in 0..messages {
        for (place, channel) in CHANNELS.into_iter().enumerate() {
            world.send(place % 2, channel, nth % 3);
            world.send(1 - place % 2, channel, nth % 3);
        }
        world.run(world.now + Duration::from_millis(33));
    }
}

/// Checks that nearly all messages are delivered again ten seconds after an attack: by then forged
/// rate limits, and queues that false clocks showed, are forgotten.
fn works_again(world: &mut World, of_30: usize) -> Result<(), TestCaseError> {
    talk(world, 300);
    world.run(world.now + Duration::from_millis(100));
    world.delivered.clear();
    talk(world, 30);
    world.run(world.now + Duration::from_millis(300));
    for end in [0, 1] {
        for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
            // A conflated channel is slowed down for up to half a minute on a path that seems
            // narrow.
            let least = if order == Order::Newest { 2 } else { of_30 };
            let of = world
                .delivered
                .iter()
                .filter(|message| message.end == end && message.channel == channel);
            let count = of.count();
            prop_assert!(
                count >= least,
                "{count} of 30 on {channel} at {end}, rate {:?}: {:?}",
                world.ends[1 - end].rate(world.now),
                world.ends[end].received(channel)
            );
        }
    }
    Ok(())
}

/// Attacks an endpoint and counts what it sends.
struct Victim {
    packet: Vec<u8>,
    packets: u64,
    bytes: u64,
}

impl Victim {
    fn new() -> Self {
        Victim { packet: Vec::new(), packets: 0, bytes: 0 }
    }

    /// Hands a packet to end 1 and drops the packets that it sends.
    fn attack(&mut self, world: &mut World, packet: &[u8]) -> Result<(), TestCaseError> {
        let (now, end) = (world.now, &mut world.ends[1]);
        let mtu = Config::default().mtu;
        let _ = end.receive(now, packet, |_| {});
        end.expire(now);
        let mut at_once = 0;
        while end.transmit(now, &mut self.packet).is_some() {
            prop_assert!(self.packet.len() <= mtu, "{} bytes", self.packet.len());
            self.packets += 1;
            self.bytes += self.packet.len() as u64;
            at_once += 1;
            prop_assert!(at_once < 20, "an endpoint sends without end");
        }
        prop_assert!(end.timeout(now).is_none_or(|at| at > now), "all that was due was sent");
        prop_assert!(end.memory() <= memory_max(), "{} bytes of memory", end.memory());
        Ok(())
    }

    /// Checks that the endpoint, which has no messages to send, sent no more reports than it
    /// promises.
    fn kept_its_rate(&self, time: Duration) -> Result<(), TestCaseError> {
        let most = 2 + time.as_millis() as u64 / 5;
        prop_assert!(self.packets <= most, "{} packets in {time:?}", self.packets);
        prop_assert!(self.bytes <= most * 200, "{} bytes in {time:?}", self.bytes);
        Ok(())
    }
}

fn schemes() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        Just(Scheme::Adaptive),
        Just(Scheme::Fixed(Code { repeats: Repeats::repeat_last(3), ..Code::PLAIN })),
    ]
}

fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The header of a well-formed packet with these fields.
fn start(flags: u8, number: u16, sent: u16) -> Vec<u8> {
    let mut packet = vec![0x40 | flags & 0x3f];
    packet.extend(number.to_be_bytes());
    packet.extend(sent.to_be_bytes());
    if flags & 8 != 0 {
        varint(u32::from(number) * 7, &mut packet);
    }
    packet
}

/// Appends one of [`CHANNELS`] with two bits.
fn channel(which: u8, kind: u32, packet: &mut Vec<u8>) {
    varint(CHANNELS[usize::from(which) % CHANNELS.len()] * 4 + kind, packet);
}

type Forged = (u8, u16, u16, Vec<(u8, u16, u32, u8)>);

/// The fields of a forged packet: flags, number, sent, and parts about channels.
fn forged() -> impl Strategy<Value = Forged> {
    let part = (any::<u8>(), any::<u16>(), any::<u32>(), any::<u8>());
    (any::<u8>(), any::<u16>(), any::<u16>(), prop::collection::vec(part, 0..60))
}

/// A packet with a report: requests, balances, steps and losses with these fields.
fn report((flags, number, sent, parts): &Forged) -> Vec<u8> {
    let mut packet = start(flags | 0x20, *number, *sent);
    packet.push(u8::try_from(number & 0x0f).unwrap_or(0) << 4 | 0b101);
    packet.extend(sent.to_be_bytes());
    varint(if flags & 1 == 0 { 0 } else { u32::from(*number) << 16 }, &mut packet);
    packet.extend([*flags; 6]);
    varint(parts.len() as u32, &mut packet);
    for (which, first, more, value) in parts {
        channel(*which, u32::from(value % 3), &mut packet);
        match value % 3 {
            0 => {
                packet.extend(first.to_be_bytes());
                varint(*more, &mut packet);
            }
            _ => packet.push(*value),
        }
    }
    packet
}

/// A packet with messages of any indices and ages.
fn messages((flags, number, sent, parts): &Forged) -> Vec<u8> {
    let mut packet = start(flags & !0x20, *number, *sent);
    for (which, index, age, len) in parts {
        channel(*which, u32::from(len & 3), &mut packet);
        packet.extend(index.to_be_bytes());
        varint(if index % 2 == 0 { *age } else { 0 }, &mut packet);
        if len & 1 == 1 {
            packet.extend([index.to_le_bytes()[0] & 0x7f, len & 0x7f]);
        }
        varint(u32::from(*len), &mut packet);
        packet.extend(std::iter::repeat_n(7, usize::from(*len)));
    }
    packet
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // The same cases each time: what a distorted path costs is a matter of degree.
        rng_seed: RngSeed::Fixed(2012),
        ..ProptestConfig::with_cases(32)
    })]

    #[test]
    fn any_bytes(
        scheme in schemes(),
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..60),
        step in 0u64..20,
    ) {
        let mut world = opened(scheme);
        talk(&mut world, 20);
        world.run(world.now + Duration::from_secs(1));
        let (mut victim, began) = (Victim::new(), world.now);
        for mut packet in packets {
            if let Some(first) = packet.first_mut() {
                *first = 0x40 | *first & 0x3f;
            }
            victim.attack(&mut world, &packet)?;
            world.now += Duration::from_millis(step);
        }
        victim.kept_its_rate(world.now - began)?;
        works_again(&mut world, 28)?;
    }

    #[test]
    fn forged_packets(
        scheme in schemes(),
        packets in prop::collection::vec((any::<bool>(), forged()), 1..40),
        step in 0u64..40,
    ) {
        let mut world = opened(scheme);
        talk(&mut world, 20);
        world.run(world.now + Duration::from_secs(1));
        let (mut victim, began) = (Victim::new(), world.now);
        for (reports, forged) in &packets {
            let packet = if *reports { report(forged) } else { messages(forged) };
            victim.attack(&mut world, &packet)?;
            world.now += Duration::from_millis(step);
        }
        victim.kept_its_rate(world.now - began)?;
        works_again(&mut world, 28)?;
    }

    /// One packet in eight is damaged.
    #[test]
    fn damaged_packets(scheme in schemes(), seed in any::<u64>()) {
        let path = LinkConfig { corrupt: 0.125, duplicate: 0.1, ..losing(0.05) };
        let mut world = World::new(Config { scheme, ..Config::default() }, &path, seed);
        for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
            world.open(channel, pointer(order));
        }
        talk(&mut world, 150);
        for end in &world.ends {
            prop_assert!(end.memory() <= memory_max(), "{}", end.memory());
        }
        world.change_path(&losing(0.0));
        // Transports check packets. Without a check, hundreds of packets were false, and some
        // effects last longer than ten seconds.
        works_again(&mut world, 3)?;
    }
}

/// Packets are recorded and sent again to the same receiver.
#[test]
fn replayed_packets_deliver_no_message_twice() {
    let mut there = Endpoint::new(Config::default());
    let mut here = Endpoint::new(Config::default());
    let ms = Duration::from_millis;
    for end in [&mut here, &mut there] {
        end.open(3, Qos::new()).expect("the QoS makes sense");
    }
    let mut recorded = Vec::new();
    let mut packet = Vec::new();
    let mut delivered = 0;
    for nth in 0..300 {
        here.send(ms(nth * 33), 3, Submission::new(&nth.to_be_bytes())).expect("it is small");
        while here.transmit(ms(nth * 33), &mut packet).is_some() {
            there
                .receive(ms(nth * 33 + 20), &packet, |_| delivered += 1)
                .expect("nothing is wrong");
            recorded.push(packet.clone());
        }
    }
    assert_eq!(delivered, 300);
    // At once, when all messages could still be in time, and later.
    for start in [9_921, 20_000, 27_000] {
        for (nth, packet) in (0..).zip(&recorded) {
            let _ = there.receive(ms(start + nth), packet, |_| delivered += 1);
        }
    }
    assert!(delivered <= 300, "{} were delivered twice", delivered - 300);
}

/// A receiver that requests all messages all the time gets each message a limited number of times.
#[test]
fn endless_requests_get_few_answers() {
    let mut end = Endpoint::new(Config::default());
    end.open(3, Qos::new()).expect("the QoS makes sense");
    let mut packet = Vec::new();
    let (mut packets, mut repeated) = (0, 0);
    for tick in 0..10_000u16 {
        let now = Duration::from_millis(tick.into());
        if tick % 33 == 0 {
            end.send(now, 3, Submission::new(&[7; 16])).expect("it is small");
        }
        // Requests all of the last 33 messages, and reports that all packets are lost and far too
        // many messages missed.
        let mut request = start(0x20, tick, tick);
        request.push(0b101 | (tick as u8 & 0x0f) << 4);
        request.extend((tick / 33).to_be_bytes());
        request.push(0);
        request.extend([0xff; 6]);
        request.push(2);
        varint(3 * 4, &mut request);
        request.extend((tick / 33).saturating_sub(32).to_be_bytes());
        varint(u32::MAX, &mut request);
        varint(3 * 4 + 1, &mut request);
        request.push(0x7f);
        end.receive(now, &request, |_| {}).expect("it is well-formed");
        while let Some(made) = end.transmit(now, &mut packet) {
            packets += 1;
            repeated += made.repeated;
        }
    }
    let messages = end.sent(3).expect("it is open").0.messages as u32;
    assert!(messages > 50, "{messages}");
    // For each message at most 7 repeats of the code, 12 answers and a tail flush.
    assert!(repeated <= 20 * messages, "{repeated} repeats of {messages}");
    assert!(packets <= 20 * messages, "{packets} packets for {messages}");
}

/// 240 messages in a packet, each with an index 32,000 higher: they are cheap to send, and must
/// take little memory.
#[test]
fn jumping_indices_take_little_memory() {
    let mut end = Endpoint::new(Config::default());
    end.open(3, Qos::new()).expect("the QoS makes sense");
    let mut number = 0;
    for round in 0..20u16 {
        let mut packet = start(0, round, 0);
        for _ in 0..240 {
            packet.push(3 * 4);
            packet.extend(u16::to_be_bytes(number));
            packet.extend([0, 0]);
            number = number.wrapping_add(32_000);
        }
        end.receive(Duration::ZERO, &packet, |_| {}).expect("it is well-formed");
    }
    let judged = end.received(3).expect("the channel is open").judged;
    assert!(judged > 20 * 239 * 31_000, "all but the newest missing messages are given up");
    assert!(end.memory() < 2 * CHANNEL, "{} bytes", end.memory());
}

/// One message whose index is far ahead does not block a channel.
#[test]
fn a_jump_of_an_index_is_forgotten() {
    for jump in [20u16, 100, 200, 5_000, 30_000] {
        let mut world = opened(Scheme::Adaptive);
        talk(&mut world, 20);
        for channel_id in CHANNELS {
            // The clock is right: a false one is another attack.
            let sent = world.now - Duration::from_millis(25);
            let mut packet = start(0, 200, sent.as_millis() as u16);
            varint(channel_id * 4, &mut packet);
            packet.extend((20 + jump).to_be_bytes());
            packet.extend([0, 1, 7]);
            for end in &mut world.ends {
                let _ = end.receive(world.now, &packet, |_| {});
            }
        }
        works_again(&mut world, 28).expect("it works again");
    }
}

/// The endpoints notice that a path which was far too slow is fast again.
#[test]
fn a_path_that_recovers_is_used_again() {
    let mut world = opened(Scheme::Adaptive);
    world.change_path(&LinkConfig { delay: Duration::from_millis(900), ..losing(0.0) });
    talk(&mut world, 600);
    world.point(3, 40);
    world.change_path(&losing(0.0));
    world.run(world.now + Duration::from_secs(2));
    talk(&mut world, 300);
    works_again(&mut world, 28).expect("it works again");
}
