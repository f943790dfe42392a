//! Datagrams of fan-out groups: coded once, read by many receivers (wire W70 to W75).

use std::time::Duration;

use groupwire_session::Qos;
use groupwire_session::client::ChannelId;

use crate::support::{Air, MS, World};

const POINTER: Qos = Qos::awareness().rate(0, 25);
const PATH: Qos = Qos::awareness().aggregate();

const POINTING: ChannelId = ChannelId(1);
const PATHS: ChannelId = ChannelId(2);

const SENDERS: usize = 5;

/// This many joined people.
fn crowd(count: usize, air: Air) -> World {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..count {
        newcomer(&mut world, air);
    }
    world.run(MS * 300);
    world
}

fn newcomer(world: &mut World, air: Air) -> usize {
    let at = world.add();
    world.people[at].air = air;
    world.people[at].delay = MS * 20;
    world.channel(at, "draw", Qos::transaction());
    world.channel(at, "pointer", POINTER);
    world.channel(at, "path", PATH);
    at
}

/// The first people point and draw paths for this number of ticks.
fn move_about(world: &mut World, steps: usize) {
    for _ in 0..steps {
        for at in 0..SENDERS {
            let step = world.now.as_millis();
            let text = format!(
                r#"{{"type":"pointer","user":"u{at}","x":{},"y":{}}}"#,
                100 + at as u128 * 50 + step / 13 % 400,
                700 - step / 17 % 500
            );
            world.send_key(at, POINTING, "", &text);
            world.people[at].said.push(text);
            if step / 40 % 4 == at as u128 % 4 {
                let text = format!(r#"{{"type":"path","user":"u{at}","at":{step}}}"#);
                world.send(at, PATHS, &text);
                world.people[at].said.push(text);
            }
        }
        world.run(MS * 40);
    }
}

/// Datagrams and bytes that a person was sent since, alone and shared.
fn since(world: &World, at: usize, before: crate::support::Brought) -> [(usize, usize); 2] {
    let now = world.people[at].brought;
    let less = |now: (usize, usize), before: (usize, usize)| (now.0 - before.0, now.1 - before.1);
    [less(now.alone, before.alone), less(now.shared, before.shared)]
}

#[test]
fn w70_a_crowd_shares_its_datagrams() {
    let mut world = crowd(20, Air::CLEAR);
    move_about(&mut world, 50);
    let before: Vec<_> = world.people.iter().map(|person| person.brought).collect();
    let texts = world.people[19].texts(POINTING).len();
    move_about(&mut world, 100);
    for (at, before) in before.into_iter().enumerate() {
        let [alone, shared] = since(&world, at, before);
        // The room alone acknowledges a sender's datagrams: about a dozen bytes, eight times a
        // second.
        let told = if at < 5 { 40 } else { 8 };
        assert!(alone.0 < told, "{at} was sent {alone:?} alone, {shared:?} with others");
        assert!(alone.1 < told * 16, "{at} was sent {alone:?} alone, {shared:?} with others");
        assert!((95..=110).contains(&shared.0), "{at}: {shared:?}");
        assert!(shared.1 < 100 * 45, "{at}: {shared:?}");
    }
    let came = world.people[19].texts(POINTING).len() - texts;
    assert!(came >= 5 * 98, "{came}");
    world.send_key(0, POINTING, "", "last");
    world.run(MS * 900);
    for at in 1..20 {
        assert_eq!(world.people[at].texts(POINTING).last().map(String::as_str), Some("last"));
    }
}

#[test]
fn w85_a_group_brings_nothing_of_a_channel_that_was_closed() {
    for phase in 0..5 {
        let mut world = crowd(20, Air::CLEAR);
        move_about(&mut world, 50);
        world.run(MS * (50 * phase));
        let shared = |world: &World| world.people[19].brought.shared.0;
        assert!(shared(&world) > 20, "{}", shared(&world));
        world.people[19].client.close(PATHS).unwrap();
        // SHUT goes in the next packet, and earlier messages of the server are under way.
        move_about(&mut world, 3);
        let before = shared(&world);
        move_about(&mut world, 25);
        assert_eq!(shared(&world), before, "{}", 50 * phase);
    }
}

/// Each person received only messages that were sent, once and in order, and the last values.
fn check(world: &World, except: &[usize], seed: u64) {
    let said: Vec<Vec<String>> = (0..SENDERS).map(|at| world.people[at].said.to_vec()).collect();
    for (at, person) in world.people.iter().enumerate().filter(|(at, _)| !except.contains(at)) {
        for sender in (0..SENDERS).filter(|sender| *sender != at) {
            let number = world.people[sender].client.participant().unwrap();
            let of_sender = |channel: ChannelId| {
                person
                    .messages
                    .iter()
                    .filter(move |message| message.channel == channel && message.sender == number)
            };
            let indices: Vec<u32> =
                of_sender(POINTING).map(|message| message.index.get()).collect();
            assert!(indices.is_sorted_by(|one, two| one < two), "seed {seed}, {at}: {indices:?}");
            let mut paths: Vec<u32> = of_sender(PATHS).map(|message| message.index.get()).collect();
            let came = paths.len();
            paths.sort_unstable();
            paths.dedup();
            assert_eq!(paths.len(), came, "seed {seed}: {at} was told twice");
            let told = of_sender(POINTING).chain(of_sender(PATHS));
            for message in told {
                let text = String::from_utf8_lossy(&message.bytes).into_owned();
                assert!(said[sender].contains(&text), "seed {seed}: {at} was told {text}");
            }
            let last = of_sender(POINTING).next_back().map(|message| message.bytes.as_slice());
            let due = said[sender].iter().rfind(|text| text.contains("pointer"));
            assert_eq!(last, due.map(|text| text.as_bytes()), "seed {seed}: {at} of {sender}");
        }
    }
}

#[test]
fn w41_w74_all_kinds_of_paths_bring_what_was_said() {
    for seed in 0..6 {
        let mut world = crowd(0, Air::CLEAR);
        for at in 0..22 {
            let lost = [0, 0, 5, 20][at % 4];
            let (repeated, jitter_ms) = ([0, 10][at / 4 % 2], [0, 0, 60][at % 3]);
            newcomer(&mut world, Air { lost, repeated, jitter_ms, ..Air::CLEAR });
        }
        // The runs differ in the time before they begin.
        world.run(MS * (300 + 7 * seed as u32));
        move_about(&mut world, 200);
        world.run(MS * 1500);
        check(&world, &[], seed);
        let shared = world.people.iter().filter(|person| person.brought.shared.0 > 100).count();
        assert!(shared >= 10, "seed {seed}: groups served {shared}");
    }
}

#[test]
fn w75_people_come_and_go_and_break_off() {
    let mut world = crowd(20, Air { lost: 3, jitter_ms: 20, ..Air::CLEAR });
    move_about(&mut world, 60);
    for at in 0..4 {
        newcomer(&mut world, Air::CLEAR);
        world.people[10 + at].client.leave();
        move_about(&mut world, 20);
        world.cut(15 + at);
        move_about(&mut world, 10);
    }
    world.change_transport(19, Air::CLEAR);
    move_about(&mut world, 60);
    world.run(MS * 1500);
    check(&world, &[10, 11, 12, 13], 0);
    for at in 20..24 {
        let brought = world.people[at].brought;
        assert!(brought.shared.0 > 50, "a newcomer enters the class: {brought:?}");
    }
    // Too few are left for a group.
    for at in 5..18 {
        world.people[at].client.leave();
    }
    world.run(MS * 1000);
    let before = world.people[23].brought;
    move_about(&mut world, 50);
    let [alone, shared] = since(&world, 23, before);
    assert!(alone.0 > 40 && shared.0 == 0, "{alone:?} {shared:?}");
}

/// The bytes of all datagrams that these people were sent.
fn bytes(world: &World, of: std::ops::Range<usize>) -> usize {
    world.people[of].iter().map(|one| one.brought.alone.1 + one.brought.shared.1).sum()
}

#[test]
fn one_bad_receiver_costs_nobody_else_five_percent() {
    let run = |is_bad: bool| {
        let mut world = crowd(23, Air::CLEAR);
        let last = newcomer(&mut world, Air::CLEAR);
        if is_bad {
            world.people[last].air = Air { lost: 20, ..Air::CLEAR };
            world.people[last].delay = MS * 250;
        }
        world.run(MS * 1500);
        move_about(&mut world, 50);
        let before = bytes(&world, 0..23);
        move_about(&mut world, 250);
        bytes(&world, 0..23) - before
    };
    let (alone, beside) = (run(false), run(true));
    assert!(beside * 100 <= alone * 105, "{alone} bytes, {beside} beside a bad receiver");
}

#[test]
fn w74_who_stalls_holds_nobody_up() {
    let mut world = crowd(22, Air::CLEAR);
    move_about(&mut world, 50);
    world.room.set_tracing(true);
    // One reads nothing at all any more, another one's datagrams are all lost.
    world.people[20].deaf = true;
    world.people[21].air.lost = 100;
    let (mut epoch, mut since, mut longest) = (0, world.now, Duration::ZERO);
    for _ in 0..150 {
        move_about(&mut world, 1);
        let now = world.now;
        for packet in world.room.traced().iter().filter(|packet| packet.group.is_some()) {
            if packet.epoch.is_some_and(|newer| newer > epoch) {
                (epoch, since) = (packet.epoch.unwrap(), now);
            }
            longest = longest.max(now - since);
        }
    }
    assert!(epoch > 100, "epoch {epoch}");
    assert!(longest < MS * 2500, "the model was {longest:?} old");
    world.run(MS * 1500);
    check(&world, &[20], 0);
}

/// When a path that many receivers share becomes slow, the server must not code for each of them
/// alone: that would make the server slow, too, and more receivers late.
#[test]
fn w75_of_many_who_are_late_together_few_are_served_alone() {
    let mut world = crowd(50, Air::CLEAR);
    move_about(&mut world, 75);
    for at in SENDERS..50 {
        world.people[at].delay = MS * 1200;
    }
    let before: Vec<_> = world.people.iter().map(|person| person.brought).collect();
    move_about(&mut world, 150);
    let alone = |at: &usize| since(&world, *at, before[*at])[0].0 > 40;
    let alone = (SENDERS..50).filter(alone).count();
    assert!(alone <= 16, "{alone} of 45 were served alone");
    world.run(MS * 4000);
    check(&world, &[], 0);
}

#[test]
fn w73_those_who_lose_much_share_repeats() {
    let mut world = crowd(18, Air::CLEAR);
    for _ in 0..8 {
        newcomer(&mut world, Air { lost: 12, ..Air::CLEAR });
    }
    move_about(&mut world, 700);
    let before: Vec<_> = world.people.iter().map(|person| person.brought).collect();
    let said = world.people[0].said.iter().filter(|text| text.contains("path")).count();
    let came = |world: &World| -> usize {
        let number = world.people[0].client.participant().unwrap();
        let of = |at: usize| world.people[at].messages.iter();
        let paths = (18..26).flat_map(of).filter(|one| one.channel == PATHS);
        paths.filter(|message| message.sender == number).count()
    };
    let paths = came(&world);
    move_about(&mut world, 500);
    let said = world.people[0].said.iter().filter(|text| text.contains("path")).count() - said;
    let came = came(&world) - paths;
    let lost = 1.0 - came as f64 / (8 * said) as f64;
    assert!(lost < 0.03, "{lost} of {said} were lost");
    let served = (18..26).filter(|&at| since(&world, at, before[at])[1].0 > 400).count();
    assert!(served >= 6, "groups serve {served} of 8 who lose much");
    // The others are sent no more bytes because of it.
    let [_, lossy] = since(&world, 20, before[20]);
    let [_, clear] = since(&world, 10, before[10]);
    assert!(clear.1 < lossy.1, "{clear:?} {lossy:?}");
}

#[test]
fn hostile_acknowledgements_and_models_cost_only_their_sender() {
    let mut world = crowd(20, Air::CLEAR);
    move_about(&mut world, 50);
    let mut random = crate::support::Random::new(3);
    for _ in 0..200 {
        let mut packet: Vec<u8> = (0..random.below(30)).map(|_| random.next() as u8).collect();
        if let [tag, length, class, ..] = &mut packet[..] {
            (*tag, *class) = ([0x16, 0x1e, 0x96, 0x9e][random.below(4) as usize], 1);
            *length %= 30;
        }
        world.inject_datagram(19, &packet);
        move_about(&mut world, 1);
    }
    world.run(MS * 1500);
    check(&world, &[], 3);
    assert!(world.people.iter().all(|person| person.client.stats().reconnects == 0));
}

#[test]
fn with_the_tick_at_zero_messages_go_at_once() {
    let mut world = World::with_tick(Duration::ZERO);
    for _ in 0..20 {
        newcomer(&mut world, Air::CLEAR);
    }
    world.run(MS * 600);
    move_about(&mut world, 100);
    world.run(MS * 1500);
    check(&world, &[], 0);
    assert!(world.people[10].brought.shared.0 > 90, "{:?}", world.people[10].brought);
}

#[test]
fn w71_nothing_is_lost_on_the_way_into_a_group() {
    let mut world = crowd(SENDERS, Air::CLEAR);
    // More than may enter a group at a time without waiting, while others talk.
    (0..30).for_each(|_| _ = newcomer(&mut world, Air::CLEAR));
    move_about(&mut world, 4);
    let before: Vec<usize> = (0..SENDERS).map(|at| world.people[at].said.len()).collect();
    move_about(&mut world, 50);
    world.run(MS * 1000);
    let brought: usize = world.people.iter().map(|person| person.brought.shared.0).sum();
    assert!(brought > 0, "nobody entered a group");
    let is_path = |text: &&String| text.contains("path");
    for (at, person) in world.people.iter().enumerate() {
        let came = person.texts(PATHS);
        for sender in (0..SENDERS).filter(|sender| *sender != at) {
            let said = world.people[sender].said[before[sender]..].iter().filter(is_path);
            let missing = said.filter(|text| !came.contains(text)).count();
            assert_eq!(missing, 0, "{at} lacks paths of {sender}");
        }
    }
}
