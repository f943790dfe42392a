//! Transactions whose copies in datagrams come before a stream that is late (wire W81 to W83): in
//! order, once, and whatever becomes of the datagrams.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config as ClientConfig, Outgoing, Recipient};
use groupwire_session::trace::Carrier;
use groupwire_session::{ChannelNo, Qos, Redundancy, room};

use crate::grammar::varint;
use crate::support::{Air, MS, World, errors};

const DRAW: Qos = Qos::transaction().deadline(Duration::from_millis(800));
const POINTER: Qos = Qos::awareness().loss_per_mille(50).deadline(Duration::from_millis(250));

const DRAWING: ChannelId = ChannelId(0);
const POINTING: ChannelId = ChannelId(1);
const LOSSY: Air = Air { lost: 20, ..Air::CLEAR };

/// The time of a byte on a slow stream. The packet of a drawing has at least eight bytes.
const SLOW: Duration = Duration::from_millis(40);
/// By this time copies have arrived, and packets of slow streams have not.
const SOON: Duration = Duration::from_millis(300);

/// People who have pointed for a while, so that the loss of their paths is known.
fn people(seed: u64, airs: &[Air], redundancy: Redundancy) -> World {
    let config = room::Config { redundancy, ..room::Config::new("demo", 7) };
    let mut world = World::new(seed, config);
    for &air in airs {
        let at = world.add_with(ClientConfig { redundancy, ..ClientConfig::new("demo") });
        world.people[at].air = air;
        world.people[at].delay = MS * 20;
        world.channel(at, "draw", DRAW);
        world.channel(at, "pointer", POINTER);
    }
    world.run(MS * 500);
    (0..100).for_each(|step| point(&mut world, step));
    world
}

fn point(world: &mut World, step: usize) {
    for at in 0..world.people.len() {
        let text = format!(r#"{{"type":"pointer","x":{},"y":{}}}"#, 100 + step * 3, 400 + at);
        world.send_key(at, POINTING, "", &text);
    }
    world.run(MS * 40);
}

fn drawing(nth: usize) -> String {
    format!(r#"{{"type":"add","id":{nth},"x":{},"y":{}}}"#, nth * 7 % 600, nth * 11 % 400)
}

/// Person 0 draws and all point, over streams that are late; how long each drawing took to person
/// 1.
fn draw(world: &mut World, count: usize) -> Vec<Duration> {
    let mut sent = Vec::new();
    let mut came = Vec::new();
    for nth in 0..count * 5 {
        if nth % 5 == 0 {
            world.send(0, DRAWING, &drawing(nth / 5));
            sent.push(world.now);
        }
        let text = format!(r#"{{"type":"pointer","x":{},"y":{}}}"#, 100 + nth % 300, 400);
        world.send_key(0, POINTING, "", &text);
        world.send_key(1, POINTING, "", &text);
        for _ in 0..40 {
            world.run(MS);
            came.resize(world.people[1].texts(DRAWING).len(), world.now);
        }
    }
    for _ in 0..4000 {
        world.run(MS);
        came.resize(world.people[1].texts(DRAWING).len(), world.now);
    }
    let expected: Vec<String> = (0..count).map(drawing).collect();
    assert_eq!(world.people[1].texts(DRAWING), expected);
    assert_eq!(world.people[0].texts(DRAWING), expected);
    came.iter().zip(&sent).map(|(came, sent)| *came - *sent).collect()
}

fn slow_streams(world: &mut World) {
    for person in &mut world.people {
        person.per_byte = SLOW;
    }
}

/// The share of drawings that arrived before any stream could bring them. A drawing whose copies
/// are all lost delays those after it.
fn soon(took: &[Duration]) -> f64 {
    took.iter().filter(|took| **took < SOON).count() as f64 / took.len() as f64
}

fn copies(world: &mut World) -> usize {
    let packets = world.room.traced();
    let parts = packets.iter().filter(|one| one.is_outgoing && one.carrier == Carrier::Datagrams);
    parts.flat_map(|packet| &packet.parts).filter(|part| part.channel == ChannelNo(1)).count()
}

#[test]
fn w114_no_copy_overtakes_what_is_for_its_receiver_alone() {
    let mut early = 0;
    for seed in 1..=6 {
        let mut world = people(
            seed,
            &[Air { lost: 10, ..Air::CLEAR }, Air { lost: 10, ..Air::CLEAR }],
            Redundancy::Adaptive,
        );
        world.people[0].per_byte = MS;
        world.people[1].per_byte = SLOW;
        let participant = world.people[1].client.participant().unwrap();
        for nth in 0..60 {
            let text = drawing(nth);
            let to = (nth % 6 == 4).then_some(Recipient { participant, tag: nth as u32 });
            let message =
                Outgoing { bytes: text.as_bytes(), text: true, to, ..Outgoing::default() };
            world.people[0].client.send(world.now, DRAWING, message).unwrap();
            if to.is_some() {
                // The next one goes in the same packet.
                continue;
            }
            let sent = world.now;
            for step in 0..5 {
                point(&mut world, step);
            }
            let came = world.people[1].texts(DRAWING).last() == Some(&text);
            early += usize::from(came && world.now - sent < SOON);
        }
        world.run(MS * 60_000);
        let expected: Vec<String> = (0..60).map(drawing).collect();
        assert_eq!(world.people[1].texts(DRAWING), expected, "seed {seed}");
        assert_eq!(errors(&world, 1), [""; 0], "seed {seed}");
    }
    assert!(early > 10, "{early} copies came early");
}

#[test]
fn w83_copies_come_before_a_late_stream_and_each_transaction_once() {
    // A transaction whose copies are all lost keeps the later ones waiting: sessions differ much.
    let shares = (1..=12).map(|seed| {
        let mut world = people(seed, &[LOSSY, LOSSY], Redundancy::Adaptive);
        slow_streams(&mut world);
        let took = draw(&mut world, 60);
        assert!(world.people.iter().all(|person| person.client.stats().reconnects == 0));
        soon(&took)
    });
    let shares: Vec<f64> = shares.collect();
    assert!(shares.iter().sum::<f64>() > 0.1 * shares.len() as f64, "{shares:?}");
}

#[test]
fn w82_nothing_is_copied_where_nothing_is_lost_or_nobody_wants_it() {
    for (airs, redundancy) in
        [([Air::CLEAR, Air::CLEAR], Redundancy::Adaptive), ([LOSSY, LOSSY], Redundancy::Off)]
    {
        let mut world = people(3, &airs, redundancy);
        slow_streams(&mut world);
        world.room.set_tracing(true);
        let took = draw(&mut world, 20);
        assert_eq!(soon(&took), 0.0, "{took:?}");
        assert_eq!(copies(&mut world), 0);
    }
}

/// Where losses come one by one, a transaction is copied three times on each leg: these fifty go to
/// two receivers, and so in about 300 copies. A path whose losses look like bursts for a while has
/// up to twelve of a transaction, so that sessions differ much.
#[test]
fn w82_where_losses_come_one_by_one_each_is_copied_a_few_times_on_each_leg() {
    let copied = (4..8).map(|seed| {
        let mut world = people(seed, &[LOSSY, LOSSY], Redundancy::Adaptive);
        world.room.set_tracing(true);
        let counts = (0..50).map(|nth| {
            world.send(0, DRAWING, &drawing(nth));
            world.run(MS * 300);
            copies(&mut world)
        });
        counts.sum::<usize>()
    });
    let copied: Vec<usize> = copied.collect();
    // Copies go to two receivers: the sender gets its own transactions without their contents.
    let mean = copied.iter().sum::<usize>() / copied.len();
    assert!((150..=450).contains(&mean), "{copied:?}");
}

#[test]
fn order_and_once_hold_whatever_becomes_of_datagrams_and_transports() {
    // In sessions 14 and 427 and the later ones, damage to the length of a coded body once made the
    // room take the messages of another participant's datagram in its place.
    for seed in (0..25).chain([427, 488, 587, 653, 970]) {
        let bad = Air { max: 1200, lost: 25, repeated: 20, damaged: 0, jitter_ms: 80 };
        let air = Air { damaged: seed % 3 * 20, ..bad };
        let mut world = people(seed, &[air, air, air], Redundancy::Adaptive);
        world.people.iter_mut().for_each(|person| person.per_byte = MS);
        let mut sent = 0;
        for step in 0..120 {
            for at in 0..3 {
                if (step + at) % 3 == 0 {
                    world.send(at, DRAWING, &format!("{sent} of {at}"));
                    sent += 1;
                }
            }
            point(&mut world, step);
            match (step as u64 + seed) % 37 {
                5 => world.cut(step % 3),
                20 => world.change_transport(step % 3, air),
                _ => {}
            }
        }
        world.people.iter_mut().for_each(|person| person.per_byte = Duration::ZERO);
        world.settle();
        let all = world.people[0].texts(DRAWING);
        assert_eq!(all.len(), sent, "seed {seed}");
        for at in 0..3 {
            assert_eq!(world.people[at].texts(DRAWING), all, "seed {seed}, person {at}");
            let of = all.iter().filter(|text| text.ends_with(&format!("of {at}")));
            let numbers: Vec<u32> =
                of.map(|text| text.split(' ').next().unwrap().parse().unwrap()).collect();
            assert!(numbers.is_sorted(), "seed {seed}: {numbers:?}");
            assert_eq!(world.people[at].holes, 0, "seed {seed}");
            assert!(errors(&world, at).is_empty(), "seed {seed}: {:?}", errors(&world, at));
        }
    }
}

/// A datagram with one record as it is, of channel 1 (W81).
struct Forged {
    sender: u32,
    flags: u32,
    counter: u32,
    position: u32,
    back: u32,
    text: &'static str,
    check: Option<u32>,
}

impl Forged {
    fn up(counter: u32, text: &'static str) -> Self {
        Forged { sender: 0, flags: 1, counter, position: 0, back: 0, text, check: None }
    }

    fn down(counter: u32, position: u32, text: &'static str) -> Self {
        Forged { sender: 2, position, back: 1, ..Forged::up(counter, text) }
    }

    fn datagram(&self, number: u8, now: Duration) -> Vec<u8> {
        let numbers = [1, self.sender, self.flags, self.counter, self.position, self.back];
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let bytes = bytes.chain(self.text.bytes());
        let sum = bytes
            .fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let [_, sender, flags, counter, position, back] = numbers;
        let check = self.check.unwrap_or(sum);
        let sent = (now.as_millis() as u16).to_be_bytes();
        let mut out = vec![0x41, number, sent[0], sent[1]];
        for number in [1, sender, flags | 256, check, counter, 0, position, back] {
            varint(number.into(), &mut out);
        }
        varint(self.text.len() as u64, &mut out);
        out.extend_from_slice(self.text.as_bytes());
        out
    }
}

/// Two people who have joined, without any datagrams so far.
fn quiet() -> World {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..2 {
        let at = world.add();
        world.people[at].air = Air::CLEAR;
        world.channel(at, "draw", DRAW);
        world.channel(at, "pointer", POINTER);
    }
    world.run(MS * 500);
    world
}

fn inject(world: &mut World, numbers: &mut u8, forged: &[Forged]) {
    for one in forged {
        *numbers += 1;
        let datagram = one.datagram(*numbers, world.now);
        world.inject_datagram(0, &datagram);
        world.run(MS);
    }
    world.run(MS * 200);
}

#[test]
fn w83_a_client_s_copies_count_once_and_in_order_whatever_they_hold() {
    let mut world = quiet();
    let mut numbers = 0;
    // A copy that is not the next transaction, then the next one, then the same number with other
    // bytes.
    inject(&mut world, &mut numbers, &[Forged::up(3, "third")]);
    assert!(world.people[1].texts(DRAWING).is_empty());
    // The stream brings another transaction with that number.
    world.people[0].per_byte = MS * 20;
    world.send(0, DRAWING, "what the stream says");
    world.run(MS * 10);
    world.people[0].per_byte = Duration::ZERO;
    inject(&mut world, &mut numbers, &[Forged::up(1, "first"), Forged::up(1, "another first")]);
    assert_eq!(world.people[1].texts(DRAWING), ["first"]);
    world.run(MS * 1000);
    assert_eq!(world.people[1].texts(DRAWING), ["first"]);
    world.send(0, DRAWING, "second");
    world.run(MS * 200);
    assert_eq!(world.people[1].texts(DRAWING), ["first", "second"]);
    assert_eq!(world.people[0].client.stats().reconnects, 0);
}

#[test]
fn w81_what_is_no_copy_costs_its_datagram() {
    let mut world = quiet();
    let mut numbers = 0;
    let check = Some(7);
    let broken = [
        Forged { check, ..Forged::up(1, "damaged") },
        Forged { flags: 1 | 32, ..Forged::up(1, "state") },
        Forged { flags: 1 | 64, ..Forged::up(1, "fill") },
        Forged { flags: 16, ..Forged::up(1, "") },
        Forged { sender: 9, ..Forged::up(1, "somebody else's") },
    ];
    let count = broken.len() as u64;
    inject(&mut world, &mut numbers, &broken);
    assert_eq!(world.room.stats().datagrams_unread, count);
    assert!(world.people.iter().all(|person| person.texts(DRAWING).is_empty()));
    world.send(0, DRAWING, "first");
    world.run(MS * 200);
    assert_eq!(world.people[1].texts(DRAWING), ["first"]);
}

#[test]
fn w83_a_client_takes_no_more_ahead_of_the_stream_than_it_keeps() {
    let mut world = quiet();
    let mut numbers = 0;
    // Copies of a hostile server. The room gets them, too, and drops them: a client's records have
    // sender 0.
    let far = [Forged::down(1, 9, "not the next")];
    inject(&mut world, &mut numbers, &far);
    assert!(world.people[0].texts(DRAWING).is_empty());
    let forged: Vec<Forged> = (1..=100).map(|at| Forged::down(at, at, "a copy")).collect();
    inject(&mut world, &mut numbers, &forged);
    assert_eq!(world.people[0].texts(DRAWING).len(), 64);
    // The stream brings others at these positions, and then one that is news.
    for nth in 0..65 {
        world.send(1, DRAWING, &drawing(nth));
    }
    world.run(MS * 500);
    assert_eq!(world.people[0].texts(DRAWING).len(), 65);
    assert_eq!(world.people[0].texts(DRAWING).last(), Some(&drawing(64)));
    assert_eq!(world.people[0].client.stats().reconnects, 0);
}
