//! Whatever a peer, or somebody who can write packets like one, sends: an endpoint stands, stays small and sends no more
//! than it says, and works again when that is over.

mod support;

use std::time::Duration;

use groupwire_afec::{Afec2012, Config, Endpoint, Order, Qos, Scheme, Submission};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::{Weather, World, pointer};

/// What a channel may take in each direction.
const CHANNEL: usize = 16 * 1024;
const CHANNELS: [u32; 3] = [3, 9, 200];
const ORDERS: [Order; 3] = [Order::AsTheyCome, Order::InOrder, Order::Newest];

fn memory_max() -> usize {
    2 * CHANNEL * CHANNELS.len()
}

fn opened(scheme: Scheme) -> World {
    let mut world = World::new(Config { scheme, ..Config::default() }, Weather::losing(0.0), 1);
    for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
        world.open(channel, pointer(order));
    }
    world
}

/// Both ends talk for a while.
fn talk(world: &mut World, messages: u32) {
    for nth in 0..messages {
        for (place, channel) in CHANNELS.into_iter().enumerate() {
            world.send(place % 2, channel, nth % 3);
            world.send(1 - place % 2, channel, nth % 3);
        }
        world.run(world.now + Duration::from_millis(33));
    }
}

/// From ten seconds after an attack on, everything comes again: by then limits that somebody told, and queues that clocks
/// which lied made believe, are forgotten.
fn works_again(world: &mut World, of_30: usize) -> Result<(), TestCaseError> {
    talk(world, 300);
    world.run(world.now + Duration::from_millis(100));
    world.came.clear();
    talk(world, 30);
    world.run(world.now + Duration::from_millis(300));
    for end in [0, 1] {
        for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
            // A channel that conflates goes slower for up to half a minute on a path that seems narrow.
            let least = if order == Order::Newest { 2 } else { of_30 };
            let of = world.came.iter().filter(|came| came.end == end && came.channel == channel);
            let count = of.count();
            prop_assert!(
                count >= least,
                "{count} of 30 on {channel} at {end}, which sends {:?}: {:?}",
                world.ends[1 - end].rate(world.now),
                world.ends[end].received(channel)
            );
        }
    }
    Ok(())
}

/// What an endpoint under attack sends, and how large it becomes.
struct Victim {
    packet: Vec<u8>,
    packets: u64,
    bytes: u64,
}

impl Victim {
    fn new() -> Self {
        Victim { packet: Vec::new(), packets: 0, bytes: 0 }
    }

    /// Hands a packet to end 1 and drops what it sends.
    fn attack(&mut self, world: &mut World, packet: &[u8]) -> Result<(), TestCaseError> {
        let (now, end) = (world.now, &mut world.ends[1]);
        let mtu = Config::default().mtu;
        let _ = end.receive(now, packet, |_| {});
        end.expire(now, |_| {});
        let mut at_once = 0;
        while end.transmit(now, &mut self.packet).is_some() {
            prop_assert!(self.packet.len() <= mtu, "{} bytes", self.packet.len());
            self.packets += 1;
            self.bytes += self.packet.len() as u64;
            at_once += 1;
            prop_assert!(at_once < 20, "an endpoint sends without end");
        }
        prop_assert!(end.timeout(now).is_none_or(|at| at > now), "what is due was sent");
        prop_assert!(end.memory() <= memory_max(), "{} bytes of memory", end.memory());
        Ok(())
    }

    /// It has sent no more reports in so much time than it says, having no messages to send.
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
        Just(Scheme::Afec2012(Afec2012::default())),
        Just(Scheme::Fec(3)),
    ]
}

fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A packet that is well-formed and says anything: flags, number, sent, and a report or not.
fn start(flags: u8, number: u16, sent: u16) -> Vec<u8> {
    let mut packet = vec![0x40 | flags & 0x3f];
    packet.extend(number.to_be_bytes());
    packet.extend(sent.to_be_bytes());
    if flags & 8 != 0 {
        varint(u32::from(number) * 7, &mut packet);
    }
    packet
}

/// One of [`CHANNELS`] with two bits.
fn channel(which: u8, kind: u32, packet: &mut Vec<u8>) {
    varint(CHANNELS[usize::from(which) % CHANNELS.len()] * 4 + kind, packet);
}

type Forged = (u8, u16, u16, Vec<(u8, u16, u32, u8)>);

/// Parts of a forged packet: flags, number, sent and what it says of channels.
fn forged() -> impl Strategy<Value = Forged> {
    let part = (any::<u8>(), any::<u16>(), any::<u32>(), any::<u8>());
    (any::<u8>(), any::<u16>(), any::<u16>(), prop::collection::vec(part, 0..60))
}

/// A report that asks for everything, steps, stands and loses as it is told to.
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

/// Messages with any indices and ages.
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

    /// Both ends talk while one packet in eight is damaged.
    #[test]
    fn damaged_packets(scheme in schemes(), seed in any::<u64>()) {
        let weather = Weather { corrupt: 0.125, duplicate: 0.1, ..Weather::losing(0.05) };
        let mut world = World::new(Config { scheme, ..Config::default() }, weather, seed);
        for (channel, order) in CHANNELS.into_iter().zip(ORDERS) {
            world.open(channel, pointer(order));
        }
        talk(&mut world, 150);
        for end in &world.ends {
            prop_assert!(end.memory() <= memory_max(), "{}", end.memory());
        }
        world.weather = Weather::losing(0.0);
        // Transports check what they carry. Here hundreds of packets lied, and some lies outlast ten seconds.
        works_again(&mut world, 3)?;
    }
}

/// A conversation is recorded and played again to the end that heard it.
#[test]
fn a_replayed_conversation_is_not_heard_twice() {
    let mut there = Endpoint::new(Config::default());
    let mut here = Endpoint::new(Config::default());
    let ms = Duration::from_millis;
    for end in [&mut here, &mut there] {
        end.open(3, Qos::new()).expect("the QoS makes sense");
    }
    let mut recorded = Vec::new();
    let mut packet = Vec::new();
    let mut heard = 0;
    for nth in 0..300 {
        here.send(ms(nth * 33), 3, Submission::new(&nth.to_be_bytes())).expect("it is small");
        while here.transmit(ms(nth * 33), &mut packet).is_some() {
            there.receive(ms(nth * 33 + 20), &packet, |_| heard += 1).expect("nothing is wrong");
            recorded.push(packet.clone());
        }
    }
    assert_eq!(heard, 300);
    // At once, when everything could still be in time, and later.
    for start in [9_921, 20_000, 27_000] {
        for (nth, packet) in (0..).zip(&recorded) {
            let _ = there.receive(ms(start + nth), packet, |_| heard += 1);
        }
    }
    assert!(heard <= 300, "{} were heard twice", heard - 300);
}

/// A receiver that asks for everything all the time gets each message so often and no more.
#[test]
fn endless_asking_gets_few_answers() {
    let mut end = Endpoint::new(Config::default());
    end.open(3, Qos::new()).expect("the QoS makes sense");
    let mut packet = Vec::new();
    let (mut packets, mut repeated) = (0, 0);
    for tick in 0..10_000u16 {
        let now = Duration::from_millis(tick.into());
        if tick % 33 == 0 {
            end.send(now, 3, Submission::new(&[7; 16])).expect("it is small");
        }
        // All of the last 33 messages, all packets lost, and far more missed than permitted.
        let mut ask = start(0x20, tick, tick);
        ask.push(0b101 | (tick as u8 & 0x0f) << 4);
        ask.extend((tick / 33).to_be_bytes());
        ask.push(0);
        ask.extend([0xff; 6]);
        ask.push(2);
        varint(3 * 4, &mut ask);
        ask.extend((tick / 33).saturating_sub(32).to_be_bytes());
        varint(u32::MAX, &mut ask);
        varint(3 * 4 + 1, &mut ask);
        ask.push(0x7f);
        end.receive(now, &ask, |_| {}).expect("it is well-formed");
        while let Some(made) = end.transmit(now, &mut packet) {
            packets += 1;
            repeated += made.repeated;
        }
    }
    let messages = end.sent(3).expect("it is open").0.messages as u32;
    assert!(messages > 50, "{messages}");
    // Each at most with 7 repeats of the code, 12 answers and the end of a cluster.
    assert!(repeated <= 20 * messages, "{repeated} repeats of {messages}");
    assert!(packets <= 20 * messages, "{packets} packets for {messages}");
}

/// 240 messages in a packet, each 32,000 further: cheap to say, and cheap to hear.
#[test]
fn leaping_indices_cost_no_time() {
    let scheme = Scheme::Afec2012(Afec2012::default());
    let mut end = Endpoint::new(Config { scheme, ..Config::default() });
    end.open(3, Qos::new()).expect("the QoS makes sense");
    let mut number = 0;
    let began = std::time::Instant::now();
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
    let each = began.elapsed() / 20;
    assert!(each < Duration::from_millis(25), "{each:?} for a packet");
}

/// One message whose index is far ahead does not deafen a channel.
#[test]
fn a_leap_of_an_index_is_forgotten() {
    for leap in [20u16, 100, 200, 5_000, 30_000] {
        let mut world = opened(Scheme::Adaptive);
        talk(&mut world, 20);
        for channel_id in CHANNELS {
            // As old as the path is long: a clock that lies is another attack.
            let sent = world.now - Duration::from_millis(25);
            let mut packet = start(0, 200, sent.as_millis() as u16);
            varint(channel_id * 4, &mut packet);
            packet.extend((20 + leap).to_be_bytes());
            packet.extend([0, 1, 7]);
            for end in &mut world.ends {
                let _ = end.receive(world.now, &packet, |_| {});
            }
        }
        works_again(&mut world, 28).expect("it works again");
    }
}

/// A path that was far too slow for a while is noticed to be fast again.
#[test]
fn a_path_that_recovers_is_used_again() {
    let mut world = opened(Scheme::Adaptive);
    world.weather.delay = Duration::from_millis(900);
    talk(&mut world, 600);
    world.point(3, 40);
    world.weather.delay = Duration::from_millis(25);
    world.run(world.now + Duration::from_secs(2));
    talk(&mut world, 300);
    works_again(&mut world, 28).expect("it works again");
}
