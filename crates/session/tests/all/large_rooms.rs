//! Rooms in which not all participants are announced to all (wire W103 to W105).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::{ChannelId, Event};
use groupwire_session::{LinkId, ParticipantId, PresenceState, Qos, room};

use crate::crowd::{Crowd, room_of};
use crate::grammar::{Fields, Frame, From, Value, one, read_packet};
use crate::support::{Air, MS, World, errors};

const SECOND: Duration = Duration::from_secs(1);

/// A world whose room is large with more than `up_to` participants.
fn world(up_to: usize) -> World {
    World::new(3, room::Config { announce_everybody_up_to: up_to, ..room::Config::new("demo", 7) })
}

/// Adds a participant with a channel of each kind, and lets it join.
fn add(world: &mut World) -> usize {
    let at = world.add();
    world.channel(at, "draw", Qos::transaction());
    world.channel(at, "pointer", Qos::awareness());
    world.run(SECOND);
    at
}

fn id(world: &World, at: usize) -> ParticipantId {
    world.people[at].client.participant().unwrap()
}

/// The counts that a person was told.
fn counts(world: &World, at: usize) -> Vec<(u32, bool)> {
    let counts = world.people[at].events.iter().filter_map(|event| match event {
        Event::Count { count, everybody } => Some((*count, *everybody)),
        _ => None,
    });
    counts.collect()
}

/// The participants that a person's application knows.
fn known(world: &World, at: usize) -> BTreeSet<ParticipantId> {
    world.people[at].people.keys().copied().collect()
}

fn all_but(world: &World, at: usize) -> BTreeSet<ParticipantId> {
    (0..world.people.len()).filter(|&other| other != at).map(|other| id(world, other)).collect()
}

#[test]
fn w103_a_room_becomes_large_and_small_again_and_says_so() {
    let mut world = world(4);
    (0..4).for_each(|_| _ = add(&mut world));
    for at in 0..4 {
        assert_eq!(known(&world, at), all_but(&world, at));
        assert_eq!(counts(&world, at), [], "a room that is not large does not count");
    }
    for _ in 4..6 {
        add(&mut world);
    }
    world.run(3 * SECOND);
    for at in 0..4 {
        assert_eq!(counts(&world, at).first(), Some(&(5, false)));
        assert_eq!(known(&world, at).len(), 3, "nobody is told of a newcomer that does nothing");
    }
    for at in 0..6 {
        assert_eq!(counts(&world, at).last(), Some(&(6, false)), "{at}");
    }
    assert_eq!(known(&world, 5), BTreeSet::new());
    // The room reports that announced participants have left. For others only the count changes.
    world.people[5].client.leave();
    world.people[1].client.leave();
    world.run(3 * SECOND);
    assert!(!known(&world, 0).contains(&id(&world, 1)));
    assert_eq!(counts(&world, 0).last(), Some(&(4, false)));
    // A large room becomes small at a lower bound.
    world.people[2].client.leave();
    world.run(SECOND);
    for at in [0, 3, 4] {
        assert_eq!(counts(&world, at).last(), Some(&(3, true)));
        let others: BTreeSet<_> =
            [0, 3, 4].into_iter().filter(|&one| one != at).map(|one| id(&world, one)).collect();
        assert_eq!(known(&world, at), others, "{at} is told of everybody");
        assert_eq!(errors(&world, at), Vec::<String>::new());
    }
}

#[test]
fn w104_who_acts_is_known_before_its_message() {
    for air in [Air::default(), Air { max: 1200, jitter_ms: 30, ..Air::default() }] {
        let mut world = world(2);
        for _ in 0..5 {
            let at = world.add();
            world.people[at].air = air;
            world.channel(at, "draw", Qos::transaction());
            world.channel(at, "pointer", Qos::awareness());
        }
        world.run(2 * SECOND);
        world.send_key(3, ChannelId(1), "me", "here");
        world.send(4, ChannelId(0), "a line");
        world.people[2].client.set_presence(b"drawing").unwrap();
        world.run(SECOND);
        for at in [0, 1] {
            let told = known(&world, at);
            assert!([2, 3, 4].iter().all(|&other| told.contains(&id(&world, other))), "{told:?}");
            assert_eq!(world.people[at].people[&id(&world, 2)].1, b"drawing");
            assert_eq!(world.people[at].texts(ChannelId(0)), ["a line"]);
            assert_eq!(world.people[at].texts(ChannelId(1)), ["here"]);
            assert_eq!(errors(&world, at), Vec::<String>::new());
        }
        assert_eq!(world.people[0].nobody, 0, "{air:?}");
        // The states of participants that act stay correct.
        world.people[3].reachable = false;
        world.cut(3);
        world.run(SECOND);
        assert_eq!(world.people[0].people[&id(&world, 3)].0, PresenceState::Away);
        world.people[3].reachable = true;
        world.run(8 * SECOND);
        assert_eq!(world.people[0].people[&id(&world, 3)].0, PresenceState::Here);
    }
}

#[test]
fn w104_a_newcomer_is_told_of_the_senders_of_what_it_is_sent() {
    let mut world = world(2);
    for _ in 0..6 {
        add(&mut world);
    }
    // The first one is not among the two who acted last.
    for at in 0..6 {
        world.send(at, ChannelId(0), &format!("line of {at}"));
        world.send_key(at, ChannelId(1), "me", &format!("pointer of {at}"));
        world.run(SECOND);
    }
    let newcomer = add(&mut world);
    world.run(SECOND);
    let list = world.people[newcomer].events.iter().find_map(|event| match event {
        Event::Participants { complete: true, changes } => Some(changes.len()),
        _ => None,
    });
    assert_eq!(list, Some(2), "the complete list has those who acted last");
    let person = &world.people[newcomer];
    assert_eq!((person.texts(ChannelId(0)).len(), person.texts(ChannelId(1)).len()), (6, 6));
    assert_eq!(person.nobody, 0, "each sender was known before its message");
    assert_eq!(known(&world, newcomer), all_but(&world, newcomer));
    assert_eq!(errors(&world, newcomer), Vec::<String>::new());
    // A participant that the room has named only to the newcomer leaves. The newcomer receives that
    // change.
    let first = id(&world, 0);
    world.people[0].client.leave();
    world.run(SECOND);
    assert!(!known(&world, newcomer).contains(&first));
}

/// The frames of these packets; the first of them may be the first of the transport.
fn frames(packets: &[Vec<u8>], is_first: bool) -> Vec<Frame> {
    let read = |(at, packet): (usize, &Vec<u8>)| {
        read_packet(From::Server, is_first && at == 0, packet).unwrap()
    };
    packets.iter().enumerate().flat_map(read).collect()
}

#[test]
fn w105_pages_together_have_everybody_and_come_at_a_bounded_rate() {
    let mut crowd = Crowd::new(room_of(1000, 40 * MS));
    crowd.join(1);
    crowd.kept.insert(LinkId(1), Vec::new());
    (2..=600).for_each(|link| crowd.join(link));
    crowd.run(SECOND);
    let (mut after, mut seen, mut rounds) = (0, Vec::new(), 0);
    loop {
        crowd.kept.insert(LinkId(1), Vec::new());
        // Of several requests, the newest is answered.
        let wanted = |after| one("PAGE_WANTED", Fields::default().num("after", after));
        let packets = [vec![wanted(7); 300], vec![wanted(after)]].concat().concat();
        crowd.packet(1, &packets);
        crowd.run(300 * MS);
        let told = frames(&crowd.kept[&LinkId(1)], false);
        let pages: Vec<&Frame> = told.iter().filter(|frame| frame.name == "PAGE").collect();
        assert_eq!(pages.len(), 1, "the pages of 300 ms");
        assert_eq!(pages[0].number("after"), after);
        let page = pages[0].list("participants");
        assert!(page.len() <= 256);
        seen.extend(page.iter().map(|one| one.number("id")));
        rounds += 1;
        if pages[0].number("last") == 1 {
            break;
        }
        after = seen.last().copied().unwrap();
    }
    assert_eq!(seen, (2..=600).collect::<Vec<u64>>(), "never the receiver itself");
    assert_eq!(rounds, 3);
}

/// The mean number of packets and bytes per join in a room with this many participants, with some
/// joining in one tick.
fn cost_of_joining(present: u64) -> (f64, f64) {
    let mut crowd = Crowd::new(room_of(4000, 40 * MS));
    (0..present).for_each(|link| crowd.join(link));
    crowd.run(4 * SECOND);
    crowd.take_total();
    let joins = 200;
    for join in 0..joins {
        crowd.join(10_000 + join);
        if join % 20 == 19 {
            crowd.run(40 * MS);
        }
    }
    let total = crowd.take_total();
    let each = |sum: usize| sum as f64 / joins as f64;
    (each(total.packets), each(total.bytes))
}

#[test]
fn w103_joining_does_not_cost_more_in_a_larger_room() {
    let (few, many) = (cost_of_joining(300), cost_of_joining(1200));
    println!("packets and bytes of a join: {few:?} with 300 present, {many:?} with 1200");
    // All are told the count at most once in this time, which is at most one packet for each who is
    // present.
    assert!(few.0 < 10.0 && many.0 < 15.0, "packets: {few:?}, {many:?}");
    assert!(many.1 < few.1 * 1.5, "bytes: {few:?}, {many:?}");
}

#[test]
fn participants_for_whom_there_is_nothing_to_do_are_hardly_looked_at_between_ticks() {
    const PRESENT: u64 = 2000;
    const SECONDS: u64 = 6;
    let mut crowd = Crowd::new(room_of(10_000, 40 * MS));
    (0..PRESENT).for_each(|link| crowd.join(link));
    // They catch up, enter the shared stream, and say that they are still there, as clients do.
    for _ in 0..6 {
        crowd.run(SECOND);
        crowd.keep_alive();
    }
    let before = crowd.room.visits();
    for round in 0..SECONDS * 10 {
        for link in 0..10 {
            let rest = Value::Bytes(format!("{link} is here, {round}").into_bytes());
            crowd.packet(link, &one("PRESENCE", Fields::default().with("rest", rest)));
        }
        crowd.run(100 * MS);
        if round % 10 == 9 {
            crowd.keep_alive();
        }
    }
    let visits = crowd.room.visits() - before;
    println!("{visits} visits of {PRESENT} participants in {SECONDS} s");
    // Per participant: a ping may be due every 2 s, which takes one visit, and is due once in these
    // 6 s, which takes four. Housekeeping ran 24 times, and would have visited a participant that
    // does not rest eleven times each.
    assert!(visits <= PRESENT * (SECONDS / 2 + 5), "{visits}");
}

/// Everybody's packets of a room in which participants come, publish their presence, and stall.
/// `polls_shared`: whether packets for several transports are taken together.
fn packets_of_a_room(polls_shared: bool) -> BTreeMap<LinkId, Vec<Vec<u8>>> {
    let mut crowd = Crowd::new(room_of(10_000, 40 * MS));
    crowd.polls_shared = polls_shared;
    for link in 0..40 {
        crowd.kept.insert(LinkId(link), Vec::new());
        crowd.join(link);
    }
    for round in 0..40 {
        crowd.run(100 * MS);
        crowd.publish(format!("round {round}").as_bytes());
        match round {
            20 => crowd.stalled = [3, 8].map(LinkId).into(),
            26 => [3, 8].into_iter().for_each(|link| crowd.revive(link)),
            _ => {}
        }
        if round % 10 == 9 {
            crowd.keep_alive();
        }
    }
    crowd.run(SECOND);
    crowd.kept
}

#[test]
fn packets_for_several_transports_are_the_same_if_they_are_taken_one_by_one() {
    let (together, alone) = (packets_of_a_room(true), packets_of_a_room(false));
    assert!(together.values().all(|packets| packets.len() > 30), "{together:?}");
    assert_eq!(together, alone);
}

#[test]
fn a_transport_that_keeps_its_packets_is_given_no_more_than_a_few() {
    let mut crowd = Crowd::new(room_of(10_000, 40 * MS));
    crowd.polls_shared = true;
    (0..40).for_each(|link| crowd.join(link));
    crowd.run(4 * SECOND);
    crowd.stalled = [LinkId(3)].into();
    crowd.take_total();
    for _ in 0..10 {
        crowd.publish(b"a message");
        crowd.run(50 * MS);
    }
    let packets = |crowd: &Crowd, link| crowd.sent[&LinkId(link)].packets;
    assert!(packets(&crowd, 4) >= 10, "the others are sent everything");
    assert!((1..=3).contains(&packets(&crowd, 3)), "{}", packets(&crowd, 3));
    crowd.take_total();
    crowd.revive(3);
    assert!(packets(&crowd, 3) > 0, "it is sent the rest once it takes packets again");
}
