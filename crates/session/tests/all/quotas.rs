//! Quotas of what participants send (wire W99): a participant above its quota is slowed down, no
//! other one is, and nothing is lost.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Event, Input, Sent, Status};
use groupwire_session::room::{self, Config, Room};
use groupwire_session::{
    Authority, Error, Grant, Identity, Limits, OpenRequest, Qos, Quota, Quotas, name_of,
};

use crate::grammar::{From, read_packet};
use crate::support::{MS, World, errors, noise};

const SECOND: Duration = Duration::from_secs(1);

const DRAW: Qos = Qos::transaction();

fn with_quotas(quotas: Quotas) -> Config {
    Config { quotas, ..Config::new("demo", 7) }
}

/// The smallest rate of bytes that a server may have: the largest packet takes a second.
const RATE: u64 = 65_536;

/// Quotas of this rate in bytes per second for each participant, with a burst of a second.
fn bytes(rate: u64) -> Quotas {
    let participant = Quota { bytes: rate, ..Quota::NONE };
    Quotas { participant, burst: SECOND, ..Quotas::default() }
}

fn deliveries(rate: u64) -> Quotas {
    let participant = Quota { deliveries: rate, ..Quota::NONE };
    Quotas { participant, burst: SECOND, ..Quotas::default() }
}

/// People who have joined and share a channel.
fn people(world: &mut World, count: usize) -> ChannelId {
    (0..count).for_each(|_| _ = world.add());
    let channels: Vec<ChannelId> =
        (0..count).map(|person| world.channel(person, "draw", DRAW)).collect();
    world.run(SECOND);
    channels[0]
}

fn send_many(world: &mut World, person: usize, channel: ChannelId, count: usize, size: usize) {
    for number in 0..count {
        assert_eq!(world.send(person, channel, &noise(number, size)), Sent::Accepted);
    }
}

#[test]
fn w99_a_flooder_is_slowed_down_to_the_rate_and_loses_nothing() {
    let mut world = World::new(1, with_quotas(bytes(RATE)));
    let draw = people(&mut world, 2);
    let began = world.now;
    send_many(&mut world, 0, draw, 660, 1000);
    while world.people[0].client.pending() > 0 {
        world.run(100 * MS);
    }
    // 660 KB are the quota of ten seconds; one second of it may be used at once.
    let took = world.now - began;
    assert!((8 * SECOND..13 * SECOND).contains(&took), "{took:?}");
    let sent: Vec<String> = (0..660).map(|number| noise(number, 1000)).collect();
    assert!(world.people[1].texts(draw) == sent);
    assert_eq!(errors(&world, 0), Vec::<String>::new());
    assert_eq!(joins(&world, 0), 1);
    let stats = world.room.stats();
    assert!(stats.limitations > 0 && stats.delayed_reads > 0, "{stats:?}");
    world.run(10 * SECOND);
    assert_eq!(world.room.stats().limited, 0);
}

#[test]
fn w99_a_bystander_in_the_same_room_is_not_slowed_down() {
    let mut quotas = bytes(2 * RATE);
    // The flooder alone uses up the room's quota; the bystander has a share of it.
    quotas.room = Quota { bytes: RATE, ..Quota::NONE };
    let mut world = World::new(2, with_quotas(quotas));
    let draw = people(&mut world, 2);
    send_many(&mut world, 0, draw, 1500, 1000);
    for number in 0..20 {
        assert_eq!(world.send(1, draw, &format!("bystander {number}")), Sent::Accepted);
        world.run(500 * MS);
        assert_eq!(world.people[1].client.pending(), 0, "{number}");
    }
    assert!(world.people[0].delays > 0 && world.people[0].client.pending() > 0);
    assert_eq!(world.people[1].delays, 0);
    world.run(20 * SECOND);
    assert_eq!(world.people[0].client.pending(), 0);
    assert_eq!(world.people[1].texts(draw).len(), 1520);
}

#[test]
fn w99_deliveries_count_receivers() {
    // With ten people in the room, each message is ten deliveries.
    let mut world = World::new(3, with_quotas(deliveries(100)));
    let draw = people(&mut world, 10);
    let began = world.now;
    for number in 0..100 {
        assert_eq!(world.send(0, draw, &number.to_string()), Sent::Accepted);
        world.run(10 * MS);
    }
    while world.people[0].client.pending() > 0 {
        world.run(100 * MS);
    }
    let took = world.now - began;
    assert!((8 * SECOND..13 * SECOND).contains(&took), "{took:?}");
    assert_eq!(world.people[9].texts(draw).len(), 100);
}

#[test]
fn w99_a_changed_presence_is_a_message_to_everybody() {
    let mut world = World::new(13, with_quotas(deliveries(100)));
    people(&mut world, 10);
    for number in 0..40 {
        world.people[0].client.set_presence(number.to_string().as_bytes()).unwrap();
        world.run(20 * MS);
    }
    assert!(world.people[0].delays > 0);
    assert!(world.people[1..].iter().all(|person| person.delays == 0));
}

#[test]
fn w99_a_part_of_the_snapshot_that_the_room_asked_for_does_not_count() {
    let mut config = with_quotas(bytes(RATE));
    config.limits = Limits { snapshot_after: 30, ..Limits::default() };
    let mut world = World::new(14, config);
    let draw = people(&mut world, 2);
    for number in 0..31 {
        assert_eq!(world.send(0, draw, &noise(number, 10_000)), Sent::Accepted);
        world.run(250 * MS);
    }
    world.run(5 * SECOND);
    // Its 300 KB would be five seconds of the quota.
    let came = |event: &room::Event| matches!(event, room::Event::Snapshot { .. });
    assert!(world.log.iter().any(came));
    assert_eq!(world.people.iter().map(|person| person.delays).sum::<usize>(), 0);
}

#[test]
fn w99_awareness_and_pings_go_on_while_transactions_are_held() {
    let mut world = World::new(4, with_quotas(bytes(RATE)));
    let draw = people(&mut world, 2);
    let pointer = world.channel(0, "pointer", Qos::awareness());
    let seen = world.channel(1, "pointer", Qos::awareness());
    world.run(SECOND);
    send_many(&mut world, 0, draw, 200, 1000);
    world.run(200 * MS);
    // These messages are held. Messages that were under way before HOLD are read slowly, and later
    // packets wait behind them.
    send_many(&mut world, 0, draw, 1500, 1000);
    world.run(3 * SECOND);
    let mut most = Duration::ZERO;
    for number in 0..20 {
        assert!(world.people[0].client.pending() > 0, "it is held");
        let (sent, value) = (world.now, format!("at {number}"));
        world.send_key(0, pointer, "p", &value);
        while !world.people[1].texts(seen).contains(&value) {
            world.run(10 * MS);
            assert!(world.now < sent + 3 * SECOND, "{value} comes");
        }
        most = most.max(world.now - sent);
        world.run(50 * MS);
    }
    assert!(most <= 2 * SECOND, "{most:?}");
    world.run(40 * SECOND);
    assert_eq!(world.people[0].client.pending(), 0);
    // Neither end took the other for dead.
    assert_eq!((errors(&world, 0), joins(&world, 0)), (Vec::new(), 1));
}

#[test]
fn w99_a_hold_survives_a_break_and_a_restart_loses_nothing() {
    let mut world = World::durable(5, with_quotas(bytes(RATE)), 5);
    let draw = people(&mut world, 2);
    send_many(&mut world, 0, draw, 660, 1000);
    let mut cuts = 0;
    while world.people[0].client.pending() > 0 {
        world.run(700 * MS);
        cuts += 1;
        match cuts {
            5 | 9 => world.restart(),
            _ if cuts % 3 == 0 && cuts < 20 => world.cut(0),
            _ => {}
        }
        assert!(cuts < 100, "it ends");
    }
    world.run(5 * SECOND);
    let sent: Vec<String> = (0..660).map(|number| noise(number, 1000)).collect();
    assert!(world.people[1].texts(draw) == sent && world.people[0].ordered == sent);
}

#[test]
fn w99_a_large_transaction_passes_a_quota_that_is_smaller_than_it() {
    let mut world = World::durable(6, with_quotas(bytes(65_536)), 5);
    let draw = people(&mut world, 2);
    let large = noise(1, 2 << 20);
    assert_eq!(world.send(0, draw, &large), Sent::Accepted);
    let began = world.now;
    while world.people[0].client.pending() > 0 {
        world.run(SECOND);
        assert!(world.now < began + 60 * SECOND, "it passes");
    }
    assert!(world.now > began + 20 * SECOND, "{:?}", world.now - began);
    world.run(SECOND);
    assert!(world.people[1].texts(draw) == [large]);
    assert_eq!(joins(&world, 0), 1);
}

#[test]
fn w99_hold_is_in_the_first_packet_of_the_next_transport_and_again_each_second() {
    let mut world = World::new(7, with_quotas(bytes(1000)));
    let draw = people(&mut world, 2);
    send_many(&mut world, 0, draw, 20, 1000);
    world.run(5 * SECOND);
    let sent = world.room.stats().packets_out;
    // The room sends only HOLD again, by which the client knows that the room is alive.
    world.run(10 * SECOND);
    assert!(world.room.stats().packets_out - sent >= 10);
    world.cut(0);
    while world.coming_down(0).is_empty() {
        world.run(MS);
    }
    let opening = world.coming_down(0).remove(0);
    let frames = read_packet(From::Server, true, &opening).unwrap();
    let hold = frames.iter().find(|frame| frame.name == "HOLD").expect("it is still held");
    assert!(hold.number("hold_ms") > 0 && hold.number("counter") > 1, "{hold:?}");
}

/// A client that does not know HOLD and sends as much as it can is read slowly. If that is not
/// enough, its transport is closed; it resumes its session, and sends later what the room has not
/// taken.
#[test]
fn w99_far_above_the_quota_the_transport_ends_and_the_session_goes_on() {
    let mut world = World::new(8, with_quotas(deliveries(10)));
    let draw = people(&mut world, 3);
    // Under way at once, before the first HOLD can come: 3 deliveries each.
    send_many(&mut world, 0, draw, 2000, 10);
    world.run(SECOND);
    let mut ended = 0;
    for _ in 0..1200 {
        world.run(SECOND);
        ended = over_quota(&world, 0);
        if world.people[0].client.pending() == 0 {
            break;
        }
    }
    assert_eq!(world.people[0].client.pending(), 0);
    world.run(2 * SECOND);
    let sent: Vec<String> = (0..2000).map(|number| noise(number, 10)).collect();
    assert_eq!(world.people[1].texts(draw), sent);
    println!("its transport ended {ended} times");
}

#[test]
fn w99_a_participant_far_above_is_refused_until_it_is_not() {
    let mut world = World::new(9, with_quotas(deliveries(1)));
    let draw = people(&mut world, 2);
    for number in 0..70 {
        assert_eq!(world.send(0, draw, &number.to_string()), Sent::Accepted);
    }
    world.run(SECOND);
    assert_eq!(over_quota(&world, 0), 0, "what came at once is taken");
    let pointer = world.channel(0, "pointer", Qos::awareness());
    world.run(SECOND);
    world.send_key(0, pointer, "p", "one more");
    let sent = world.now;
    while over_quota(&world, 0) == 0 {
        world.run(100 * MS);
        assert!(world.now < sent + 8 * SECOND, "{:?}", errors(&world, 0));
    }
    world.run(2 * SECOND);
    assert_ne!(world.people[0].status, Some(Status::Connected));
    assert!(
        world.log.iter().any(|event| matches!(
            event,
            room::Event::Refused { error: Error::OverQuota { .. }, .. }
        ))
    );
    world.run(40 * SECOND);
    assert_eq!(world.people[0].status, Some(Status::Connected));
    assert_eq!(world.people[1].texts(draw).len(), 70);
}

#[test]
fn w99_the_authority_may_give_another_quota() {
    struct Generous;

    impl Authority for Generous {
        fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
            Ok(Grant { access: request.access, qos: request.qos })
        }

        fn quota(&self, identity: &Identity, usual: Quota) -> Quota {
            match identity.subject.is_empty() {
                true => usual,
                false => Quota { bytes: usual.bytes * 100, ..usual },
            }
        }
    }

    let config = with_quotas(bytes(1000));
    let mut world = World::new(10, config.clone());
    world.room = Room::new(config, Box::new(Generous));
    let ada = world.add_with(groupwire_session::client::Config {
        token: b"ada:all".to_vec(),
        ..groupwire_session::client::Config::new("demo")
    });
    let bo = world.add();
    let draw = world.channel(ada, "draw", DRAW);
    world.channel(bo, "draw", DRAW);
    world.run(SECOND);
    for person in [ada, bo] {
        send_many(&mut world, person, draw, 10, 1000);
    }
    world.run(2 * SECOND);
    assert_eq!(world.people[ada].delays, 0);
    assert!(world.people[bo].delays > 0);
}

#[test]
fn w99_transactions_before_the_counter_of_hold_are_sent_and_the_others_when_it_ends() {
    let mut world = World::new(11, Config::new("demo", 7));
    let draw = people(&mut world, 2);
    let hold = |world: &mut World, counter: u8, ms: u8| {
        // A HOLD of 128 ms or a little more, or one that ends the hold.
        let long = [0x6d, 3, counter, ms | 0x80, 1];
        let packet = if ms == 0 { &[0x6d, 2, counter, 0][..] } else { &long };
        let now = world.now;
        world.people[0].client.handle_input(now, Input::Packet(packet));
    };
    hold(&mut world, 3, 127);
    for number in 1..=5 {
        assert_eq!(world.send(0, draw, &number.to_string()), Sent::Accepted);
    }
    world.run(200 * MS);
    assert_eq!(world.people[1].texts(draw), ["1", "2"]);
    assert_eq!(world.people[0].client.pending(), 3);
    world.run(200 * MS);
    assert_eq!(world.people[1].texts(draw), ["1", "2", "3", "4", "5"]);
    // Another HOLD replaces the one before.
    hold(&mut world, 6, 127);
    assert_eq!(world.send(0, draw, "6"), Sent::Accepted);
    world.run(100 * MS);
    assert_eq!(world.people[0].client.pending(), 1);
    hold(&mut world, 6, 0);
    world.run(100 * MS);
    assert_eq!((world.people[0].client.pending(), errors(&world, 0)), (0, Vec::new()));
}

#[test]
fn w99_no_hold_is_longer_than_a_minute() {
    let mut world = World::new(12, Config::new("demo", 7));
    let draw = people(&mut world, 2);
    let forever = [0x6d, 11, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    let now = world.now;
    world.people[0].client.handle_input(now, Input::Packet(&forever));
    assert_eq!(world.send(0, draw, "late"), Sent::Accepted);
    world.run(59 * SECOND);
    assert_eq!(world.people[0].client.pending(), 1);
    world.run(2 * SECOND);
    assert_eq!((world.people[0].client.pending(), errors(&world, 0)), (0, Vec::new()));
}

fn joins(world: &World, person: usize) -> usize {
    let joined = |event: &&Event| matches!(event, Event::Joined { .. });
    world.people[person].events.iter().filter(joined).count()
}

fn over_quota(world: &World, person: usize) -> usize {
    let is_it = |event: &&Event| matches!(event, Event::Error { error, .. } if name_of(error.code()) == "over-quota");
    world.people[person].events.iter().filter(is_it).count()
}
