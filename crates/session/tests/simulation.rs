//! Random sessions in simulated time: people join, leave, lose their connection, stall; servers restart. Law 2 of the
//! design holds all the while: a transaction acknowledged as ordered reaches every participant, in order, once.
//!
//! `SIMULATIONS=5000 cargo test --test simulation` runs more of them; a failure names its seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::collections::HashSet;

use groupwire_session::client::{ChannelId, ChannelOptions, Config as ClientConfig, Status};
use groupwire_session::codecs::{ALL, Choice, Filter};
use groupwire_session::{Compress, Qos, room};
use support::{Air, MS, Random, World, tight};

const DRAW: Qos = Qos::transaction();
const POINTER: Qos = Qos::awareness().rate(0, 25);
const PATH: Qos = Qos::awareness().aggregate();

#[test]
fn random_sessions_lose_and_repeat_nothing() {
    let count =
        std::env::var("SIMULATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    for seed in 1..=count {
        simulate(seed);
    }
}

fn simulate(seed: u64) {
    let mut random = Random::new(seed);
    let mut config = room::Config::new("demo", 100);
    config.limits = tight();
    config.codecs = &ALL[..1 + random.below(ALL.len() as u64) as usize];
    config.timing.tick = MS * [0, 20, 40, 200][random.below(4) as usize];
    let mut world = World::new(seed, config);
    let mut gone: HashSet<usize> = HashSet::new();
    let mut sent = 0;
    for _ in 0..random.below(150) + 20 {
        let people = world.people.len();
        match random.below(100) {
            _ if people == 0 => join(&mut world, &mut random),
            0..8 if people < 8 => join(&mut world, &mut random),
            8..14 => world.cut(random.below(people as u64) as usize),
            14..17 => world.black_hole(random.below(people as u64) as usize),
            17..19 => {
                let at = random.below(people as u64) as usize;
                world.people[at].client.leave();
                gone.insert(at);
            }
            19 => world.restart(),
            20..26 => {
                let at = random.below(people as u64) as usize;
                let air = random_air(&mut random);
                world.change_transport(at, air);
            }
            26..30 => {
                let at = random.below(people as u64) as usize;
                world.people[at].reachable = random.chance(60);
            }
            _ => {
                let at = random.below(people as u64) as usize;
                if !gone.contains(&at) {
                    for _ in 0..random.below(12) {
                        sent += 1;
                        let text = format!("{at}/{sent}{}", " and on".repeat(sent % 90));
                        world.send(at, ChannelId(0), &text);
                        world.send_key(at, ChannelId(1), "me", &format!("{sent}"));
                        world.send(at, ChannelId(2), &format!("{sent}"));
                    }
                }
            }
        }
        if random.chance(10) && people > 0 {
            change_compression(&mut world, &mut random, &gone);
        }
        world.run(MS * random.below(400) as u32);
    }
    for at in 0..world.people.len() {
        world.people[at].reachable = true;
    }
    world.settle();
    check(seed, &world, &gone);
}

/// Somebody compresses a channel in another way, or has other codecs.
fn change_compression(world: &mut World, random: &mut Random, gone: &HashSet<usize>) {
    let at = random.below(world.people.len() as u64) as usize;
    if gone.contains(&at) {
        return;
    }
    let client = &mut world.people[at].client;
    match random.below(8) {
        // What it once could read it goes on reading.
        0 => client.set_codecs(ALL),
        _ => client.compress(ChannelId(random.below(3) as u32), random_compress(random)).unwrap(),
    }
}

fn random_compress(random: &mut Random) -> Compress {
    let codec = ALL[random.below(ALL.len() as u64) as usize].number();
    let filter = Filter::ALL[random.below(Filter::ALL.len() as u64) as usize];
    match random.below(6) {
        0 | 1 => Compress::Template,
        2 => Compress::Off,
        3 => Compress::Auto,
        4 => Compress::Named(Choice::codec(codec)),
        _ => Compress::Named(Choice { filter, ..Choice::codec(codec) }),
    }
}

/// Half of the transports have datagrams, good ones and bad ones.
fn random_air(random: &mut Random) -> Air {
    let max = [0, 0, 300, 1200][random.below(4) as usize];
    let (lost, repeated) = (random.below(60), random.below(30));
    Air { max, lost, repeated, damaged: 0, jitter_ms: random.below(200) }
}

fn join(world: &mut World, random: &mut Random) {
    let codecs = &ALL[..1 + random.below(ALL.len() as u64) as usize];
    let at = world.add_with(ClientConfig { codecs, ..ClientConfig::new("demo") });
    world.people[at].air = random_air(random);
    for (name, qos) in [("draw", DRAW), ("pointer", POINTER), ("path", PATH)] {
        let compress = random_compress(random);
        let options = ChannelOptions { compress, ..ChannelOptions::default() };
        world.people[at].client.channel_with(name, qos, options).unwrap();
    }
}

fn check(seed: u64, world: &World, gone: &HashSet<usize>) {
    let here: Vec<_> = (0..world.people.len()).filter(|at| !gone.contains(at)).collect();
    let Some(&first) = here.first() else { return };
    let document = &world.people[first].document;
    let distinct: HashSet<&String> = document.iter().collect();
    assert_eq!(distinct.len(), document.len(), "seed {seed}: something came twice");
    for &at in &here {
        let person = &world.people[at];
        assert_eq!(person.status, Some(Status::Connected), "seed {seed}: person {at}");
        assert_eq!(person.client.pending(), 0, "seed {seed}: person {at} still waits");
        assert_eq!(person.holes, 0, "seed {seed}: person {at} lost something");
        assert_eq!(&person.document, document, "seed {seed}: person {at} sees something else");
        for text in &person.ordered {
            assert!(distinct.contains(text), "seed {seed}: {text} was ordered and is gone");
        }
        assert_eq!(person.people.len(), here.len() - 1, "seed {seed}: person {at}: who is here");
        newest_pointers(seed, world, at, &here);
    }
}

/// Everybody ends with the newest pointer of everybody else, and saw none go back.
fn newest_pointers(seed: u64, world: &World, at: usize, here: &[usize]) {
    let pointers = |sender: u32| {
        let person = &world.people[at];
        let of = person.messages[person.since..].iter();
        of.filter(move |message| message.channel == ChannelId(1) && message.sender == sender)
    };
    for &other in here.iter().filter(|&&other| other != at) {
        let Some(sender) = world.people[other].client.participant() else { continue };
        let indices: Vec<u32> = pointers(sender).map(|message| message.index).collect();
        assert!(
            indices.is_sorted_by(|one, two| one < two),
            "seed {seed}: {at} saw {other} go back: {indices:?}"
        );
    }
}
