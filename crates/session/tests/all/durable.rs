//! Rooms whose transactions are stored: what is confirmed survives the server (wire W92 to W94).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groupwire_session::client::{self, ChannelId, Client, Config as ClientConfig, Event, Sent};
use groupwire_session::room::{self, Input, Output, Room, Stored, StoredPart};
use groupwire_session::{
    AllowAll, ChannelNo, Durability, Identity, Limits, LinkId, Opening, ParticipantId, Position,
    PresenceState, Qos, Secret, Secrets, SessionName,
};
use proptest::prelude::*;

use crate::support::{Air, MS, Random, World, demo, first_packet, tight};

const DRAW: Qos = Qos::transaction();

/// A world with a stored room, and two people who have its channels open.
fn two(slowest_ms: u64) -> (World, [usize; 2], ChannelId, ChannelId) {
    let mut world = World::durable(3, demo(), slowest_ms);
    let people = [world.add(), world.add()];
    let mut channels = (ChannelId(0), ChannelId(0));
    for person in people {
        channels.0 = world.channel(person, "draw", DRAW);
        channels.1 = world.channel(person, "pointer", Qos::awareness());
    }
    world.run(1000 * MS);
    (world, people, channels.0, channels.1)
}

#[test]
fn w92_a_transaction_goes_to_nobody_before_it_is_durable_and_awareness_does_not_wait() {
    let (mut world, [ada, bo], draw, pointer) = two(2);
    world.disk.as_mut().unwrap().is_stuck = true;
    world.send(ada, draw, "a line");
    world.run(200 * MS);
    world.send(ada, pointer, "here");
    let late = world.add();
    world.channel(late, "draw", DRAW);
    world.room.set_recording(true);
    world.room.set_tracing(true);
    world.send(bo, draw, "a dot");
    world.run(2000 * MS);
    for person in [ada, bo, late] {
        assert!(world.people[person].document.is_empty(), "nothing is durable");
    }
    assert_eq!(world.people[bo].texts(pointer), ["here"], "awareness waits for no disk");
    assert_eq!(world.people[ada].client.pending(), 1);
    assert!(world.room.recorded().0.is_empty(), "recordings wait, too");
    assert!(world.room.traced().is_empty(), "and the inspector");
    assert_eq!(world.room.transactions_after(Default::default()).count(), 0, "and observers");
    let expected = [("draw".to_owned(), 6), ("draw".to_owned(), 5)];
    assert_eq!(world.put_out, expected, "a store can note them in the same commit");
    world.disk.as_mut().unwrap().is_stuck = false;
    world.run(300 * MS);
    for person in [ada, bo, late] {
        assert_eq!(world.people[person].document, ["a line", "a dot"]);
    }
    assert_eq!(world.people[ada].client.pending(), 0);
    assert_eq!(world.room.recorded().0.len(), 2, "a transaction and a value");
    assert!(!world.room.traced().is_empty());
}

#[test]
fn an_application_is_told_when_something_waits_and_when_all_is_confirmed() {
    let (mut world, [ada, _], draw, pointer) = two(2);
    let told = |world: &World| -> Vec<usize> {
        let count = |event: &Event| match event {
            Event::Pending { count } => Some(*count),
            _ => None,
        };
        world.people[ada].events.iter().filter_map(count).collect()
    };
    world.send(ada, pointer, "here");
    world.run(100 * MS);
    assert!(told(&world).is_empty(), "only transactions are confirmed");
    world.disk.as_mut().unwrap().is_stuck = true;
    for text in ["one", "two", "three"] {
        world.send(ada, draw, text);
        world.run(100 * MS);
    }
    assert_eq!(told(&world), [1], "told once");
    assert_eq!(world.people[ada].client.pending(), 3);
    world.restart();
    world.disk.as_mut().unwrap().is_stuck = false;
    world.run(5000 * MS);
    assert_eq!(world.people[ada].document, ["one", "two", "three"]);
    assert_eq!(told(&world), [1, 0]);
    world.send(ada, draw, "four");
    world.run(1000 * MS);
    assert_eq!(told(&world), [1, 0, 1, 0]);
}

#[test]
fn w92_a_tick_of_transactions_alone_is_one_packet() {
    let mut world = World::durable(4, demo(), 8);
    let people: Vec<usize> = (0..10).map(|_| world.add()).collect();
    for &person in &people {
        world.channel(person, "draw", DRAW);
    }
    world.run(2000 * MS);
    let before = world.room.stats().packets_out;
    // Two seconds, a transaction every 5 ms.
    for nth in 0..400 {
        world.send(people[nth % 10], ChannelId(0), &nth.to_string());
        world.run(5 * MS);
    }
    let packets = world.room.stats().packets_out - before;
    // Each person is sent 60 packets: one for each tick of 40 ms, and pings. Without waiting ticks
    // it would be 86.
    assert!(packets < 10 * 70, "{packets} packets");
}

/// The states of another participant that a person's application was told, in order and without
/// repeats.
fn states(world: &World, person: usize, other: ParticipantId) -> Vec<PresenceState> {
    let changes = world.people[person].events.iter().filter_map(|event| match event {
        // A complete list without the other one says that it left.
        Event::Participants { complete, changes } => changes
            .iter()
            .find(|change| change.id == other)
            .map(|change| change.state)
            .or(complete.then_some(PresenceState::Left)),
        _ => None,
    });
    let mut states: Vec<PresenceState> = changes.collect();
    states.dedup();
    states
}

/// Three people in a stored room. The third one cannot reach the server any more when it is started
/// again.
fn three_and_a_restart() -> (World, [usize; 3], [ParticipantId; 3]) {
    let mut world = World::durable(3, demo(), 2);
    let people = [world.add(), world.add(), world.add()];
    for person in people {
        world.channel(person, "draw", DRAW);
    }
    world.run(1000 * MS);
    for person in people {
        world.send(person, ChannelId(0), "so that the room is stored");
    }
    world.run(1000 * MS);
    let ids = people.map(|person| world.people[person].client.participant().unwrap());
    // The participants were told of each other's joining.
    for person in people {
        world.people[person].events.clear();
    }
    world.people[people[2]].reachable = false;
    world.restart();
    (world, people, ids)
}

#[test]
fn w94_after_a_restart_participants_are_away_until_they_resume_or_their_time_is_over() {
    use PresenceState::{Away, Here, Left};
    let (mut world, [ada, bo, _], [id_of_ada, id_of_bo, id_of_cy]) = three_and_a_restart();
    world.run(8000 * MS);
    for (person, other) in [(ada, id_of_bo), (bo, id_of_ada)] {
        let seen = states(&world, person, other);
        assert!(seen == [Here] || seen == [Away, Here], "never left: {seen:?}");
        assert_eq!(states(&world, person, id_of_cy), [Away]);
        assert_eq!(world.people[person].people[&id_of_cy], (Away, b"person 2".to_vec()));
    }
    world.run(6000 * MS);
    for person in [ada, bo] {
        assert_eq!(states(&world, person, id_of_cy), [Away, Left]);
    }
    assert_eq!(world.people[ada].people[&id_of_bo], (Here, b"person 1".to_vec()));
}

#[test]
fn w94_a_move_to_another_transport_and_a_second_restart_do_not_end_the_time() {
    use PresenceState::{Away, Here, Left};
    let (mut world, [ada, bo, cy], [_, id_of_bo, id_of_cy]) = three_and_a_restart();
    world.run(4000 * MS);
    world.change_transport(ada, Air::default());
    world.run(4000 * MS);
    assert_eq!(states(&world, ada, id_of_cy), [Away]);
    world.restart();
    world.run(8000 * MS);
    assert_eq!(states(&world, ada, id_of_cy), [Away], "the time began anew");
    world.people[cy].reachable = true;
    world.run(40_000 * MS);
    for person in [ada, bo] {
        assert_eq!(states(&world, person, id_of_cy).last(), Some(&Here), "{person}");
    }
    assert!(!states(&world, ada, id_of_bo).contains(&Left));
}

#[test]
fn w94_a_room_that_was_not_loaded_decides_who_is_here() {
    let (mut world, [ada, ..], _, _) = two(2);
    let gone = world.add();
    world.channel(gone, "draw", DRAW);
    world.run(1000 * MS);
    let gone = (gone, world.people[gone].client.participant().unwrap());
    world.people[ada].reachable = false;
    world.cut(ada);
    world.people[gone.0].client.leave();
    world.run(3000 * MS);
    world.people[ada].reachable = true;
    world.run(5000 * MS);
    assert!(!world.people[ada].people.contains_key(&gone.1), "{:?}", world.people[ada].people);
}

#[test]
fn w94_a_restart_is_a_break_like_any_other_and_values_come_back() {
    let (mut world, [ada, bo], draw, pointer) = two(5);
    assert_eq!(world.people[ada].client.durability(), Durability::Local);
    world.send(ada, draw, "one");
    world.send_key(ada, pointer, "cursor", "at 3, 4");
    world.run(1000 * MS);
    world.restart();
    world.send(bo, draw, "two");
    world.run(3000 * MS);
    let late = world.add();
    world.channel(late, "draw", DRAW);
    let seen = world.channel(late, "pointer", Qos::awareness());
    world.run(1000 * MS);
    for person in [ada, bo, late] {
        assert_eq!(world.people[person].document, ["one", "two"], "person {person}");
        assert!(!world.people[person].saw(|event| matches!(event, Event::Gap { .. })));
    }
    // The room had lost the value, and its sender stated it again.
    assert_eq!(world.people[late].texts(seen), ["at 3, 4"]);
    assert_eq!(world.people[bo].texts(pointer), ["at 3, 4"], "who had it is not told again");
    let joined = |event: &&Event| matches!(event, Event::Joined { resumed: true, .. });
    assert_eq!(world.people[ada].events.iter().filter(joined).count(), 1);
}

#[test]
fn w93_nobody_new_is_taken_in_before_a_number_is_durably_reserved() {
    let (mut world, [ada, _], draw, _) = two(2);
    world.send(ada, draw, "stored");
    world.run(1000 * MS);
    let disk = world.disk.as_mut().unwrap();
    (disk.reserves, disk.is_stuck) = (1, true);
    world.restart();
    world.run(1000 * MS);
    let new = [world.add(), world.add()];
    for person in new {
        world.channel(person, "draw", DRAW);
    }
    world.run(3000 * MS);
    let joined = |world: &World| new.map(|one| !world.people[one].document.is_empty());
    assert_eq!(joined(&world), [true, false], "one number was reserved");
    world.disk.as_mut().unwrap().is_stuck = false;
    world.run(10_000 * MS);
    assert_eq!(joined(&world), [true, true]);
}

#[test]
fn after_a_crash_a_number_is_not_given_to_somebody_else() {
    let (mut world, [ada, _], draw, _) = two(2);
    world.send(ada, draw, "stored");
    world.run(1000 * MS);
    // The store does not know these two participants, because they send nothing.
    let (before, after) = (world.add(), {
        world.run(1000 * MS);
        world.restart();
        world.add()
    });
    world.run(3000 * MS);
    let number = |person: usize| {
        world.people[person].events.iter().rev().find_map(|event| match event {
            Event::Joined { participant, .. } => Some(*participant),
            _ => None,
        })
    };
    assert!(number(before).is_some() && number(after).is_some());
    assert_ne!(number(before), number(after));
}

/// Notes the sessions that it is asked for.
#[derive(Debug, Default)]
struct Noted(RefCell<Vec<(String, u64, u32)>>);

impl Secrets for Noted {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        let SessionName { room, incarnation, participant, .. } = *session;
        self.0.borrow_mut().push((room.to_owned(), incarnation, participant.get()));
        Secret::default()
    }
}

#[test]
fn w13_a_secret_is_of_one_incarnation_of_one_room() {
    let noted = Noted::default();
    for incarnation in [7, 8] {
        let mut client = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
        client.handle_input(Duration::ZERO, client::Input::Timeout);
        let packet = first_packet(&mut client, Duration::ZERO);
        let opening = &Opening::read(&packet).unwrap();
        let mut room = Room::new(room::Config::new("demo", incarnation), Box::new(AllowAll));
        let (link, identity, max_datagram) = (LinkId(1), &Identity::default(), 0);
        let input = Input::Join { link, opening, identity, secrets: &noted, max_datagram };
        room.handle_input(Duration::ZERO, input);
    }
    assert_eq!(noted.0.into_inner(), [("demo".into(), 7, 1), ("demo".into(), 8, 1)]);
}

#[test]
fn a_changed_qos_survives_the_server() {
    let (mut world, [ada, _], draw, _) = two(2);
    world.send(ada, draw, "stored");
    world.run(1000 * MS);
    let changed = Qos { priority: 5, ..DRAW };
    world.people[ada].client.set_qos(draw, changed).unwrap();
    world.run(1000 * MS);
    world.restart();
    world.run(3000 * MS);
    let late = world.add();
    world.channel(late, "draw", DRAW);
    world.run(1000 * MS);
    let opened = |event: &Event| matches!(event, Event::Opened { qos, .. } if *qos == changed);
    assert!(world.people[late].saw(opened), "{:?}", world.people[late].events);
}

#[test]
fn a_room_without_transactions_stores_nothing() {
    let (mut world, [ada, _], _, pointer) = two(5);
    world.send(ada, pointer, "here");
    world.run(1000 * MS);
    assert_eq!(world.disk.as_ref().unwrap().writes, 0);
    world.restart();
    world.run(3000 * MS);
    assert!(world.people[ada].saw(|event| matches!(event, Event::Gap { .. })), "it was a new room");
}

#[test]
fn w93_a_room_whose_store_is_full_takes_no_more_and_heals() {
    let limits = Limits { max_volatile_bytes: 4000, ..tight() };
    let mut world = World::durable(3, room::Config { limits, ..demo() }, 2);
    let (ada, bo) = (world.add(), world.add());
    let draw = world.channel(ada, "draw", DRAW);
    world.channel(bo, "draw", DRAW);
    world.run(1000 * MS);
    world.disk.as_mut().unwrap().is_stuck = true;
    let texts: Vec<String> = (0..200).map(|n| format!("line {n} {}", "x".repeat(200))).collect();
    for text in &texts {
        assert_eq!(world.send(ada, draw, text), Sent::Accepted);
        world.run(10 * MS);
    }
    world.run(2000 * MS);
    assert!(world.room.stats().memory < 30_000, "{}", world.room.stats().memory);
    assert_eq!(world.people[ada].client.pending(), 200);
    world.disk.as_mut().unwrap().is_stuck = false;
    // Each time the room takes only some, and the waits between two transports grow.
    world.run(60_000 * MS);
    assert_eq!(world.people[bo].document, texts);
    assert_eq!(world.people[ada].ordered, texts);
    assert_eq!(world.people[ada].client.pending(), 0);
    assert!(!world.people[ada].saw(|event| matches!(event, Event::Gap { .. })));
}

#[test]
fn a_forgotten_participant_resumes_as_a_new_one_and_is_told() {
    let limits = Limits { max_former: 2, ..tight() };
    let mut world = World::durable(3, room::Config { limits, ..demo() }, 2);
    let ada = world.add();
    let draw = world.channel(ada, "draw", DRAW);
    world.run(500 * MS);
    world.send(ada, draw, "mine");
    world.run(500 * MS);
    world.people[ada].reachable = false;
    world.cut(ada);
    world.run(100_000 * MS);
    for _ in 0..3 {
        let other = world.add();
        world.channel(other, "draw", DRAW);
        world.run(500 * MS);
        world.send(other, draw, "another's");
        world.run(500 * MS);
        world.people[other].client.leave();
    }
    world.people[ada].reachable = true;
    world.run(10_000 * MS);
    assert!(world.people[ada].saw(|event| matches!(event, Event::Gap { .. })));
    assert_eq!(world.people[ada].document.len(), 4, "{:?}", world.people[ada].document);
}

/// Four people draw and move while transports break and the server dies, with snapshots and a slow
/// disk. Returns the number of recorded departures.
fn play(seed: u64) -> usize {
    let mut random = Random::new(seed ^ 0xd15c);
    let slowest = [0, 5, 50, 400][random.below(4) as usize];
    // In half of the sessions, most transactions are larger than a message may be (W97).
    let largest = if seed.is_multiple_of(2) { 0 } else { 1200 };
    let limits = Limits { max_message: 100, ..demo().limits };
    let mut config = if largest == 0 { demo() } else { room::Config { limits, ..demo() } };
    // In a third of the sessions, people that do not come back at once have left, and the room
    // records that (W113).
    let mut draw = DRAW;
    if seed.is_multiple_of(3) {
        (draw.departures, config.timing.away) = (true, 1000 * MS);
    }
    let mut world = World::durable(seed, config, slowest);
    for _ in 0..4 {
        let person = world.add_with(ClientConfig::new("demo"));
        world.people[person].air = Air {
            max: [0, 1200][random.below(2) as usize],
            lost: random.below(20),
            ..Air::default()
        };
        world.channel(person, "draw", draw);
        world.channel(person, "pointer", Qos::awareness());
    }
    // Before they have joined, they do not know the size of the largest message.
    world.run(500 * MS);
    let (draw, pointer) = (ChannelId(0), ChannelId(1));
    let mut said: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    // Transactions that were confirmed to a person must keep their places.
    let mut confirmed: Vec<Vec<String>> = vec![Vec::new(); 4];
    for step in 0..120 {
        let person = random.below(4) as usize;
        match random.below(20) {
            0 => world.restart(),
            1 => world.cut(person),
            2 => world.black_hole(person),
            3..=12 => {
                let filling = "x".repeat(random.below(largest + 1) as usize);
                let text = format!("{person}.{step} {filling}");
                if world.send(person, draw, &text) == Sent::Accepted {
                    said.entry(person).or_default().push(text);
                }
            }
            _ => _ = world.send_key(person, pointer, "cursor", &format!("at {step}")),
        }
        world.run(MS * random.below(300) as u32);
        for (person, confirmed) in confirmed.iter_mut().enumerate() {
            let now = &world.people[person].ordered;
            assert!(now.starts_with(confirmed), "seed {seed}: what was confirmed changed");
            confirmed.clone_from(now);
        }
    }
    world.settle();
    let document = world.people[0].document.clone();
    for (at, person) in world.people.iter().enumerate() {
        let why = |event: &Event| matches!(event, Event::Gap { .. });
        // Only a room that was not stored yet may begin anew.
        let gaps = person.events.iter().filter(|event| why(event)).count();
        assert!(gaps == 0 || world.disk.as_ref().unwrap().head().get() > 0);
        assert_eq!(person.document, document, "seed {seed}: person {at} has another document");
        let own: Vec<&String> =
            document.iter().filter(|text| text.starts_with(&format!("{at}."))).collect();
        let wanted: Vec<&String> = said.get(&at).into_iter().flatten().collect();
        assert_eq!(own, wanted, "seed {seed}: person {at}: lost, repeated or out of order");
        assert_eq!(person.client.pending(), 0, "seed {seed}");
    }
    departures(seed, &world)
}

/// W113: a participant whose departure is recorded has sent a transaction since its last departure
/// entry. Returns the number of entries.
fn departures(seed: u64, world: &World) -> usize {
    let (mut count, mut has_sent) = (0, BTreeSet::new());
    for text in &world.people[0].document {
        match text.strip_suffix(" left") {
            Some(gone) => {
                count += 1;
                assert!(has_sent.remove(gone), "seed {seed}: {gone} left, and had sent nothing");
            }
            None => {
                let at: usize = text.split('.').next().unwrap().parse().unwrap();
                has_sent.insert(world.people[at].client.participant().unwrap().to_string());
            }
        }
    }
    count
}

#[test]
fn whatever_is_killed_nothing_confirmed_is_lost_repeated_or_moved() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    // A tenth of the simulations of other tests: each of these takes longer.
    let count = number("SIMULATIONS").map_or(60, |count: u64| count.div_ceil(10));
    let first = number("FIRST_SEED").unwrap_or(1);
    let left: usize = (first..first + count).map(play).sum();
    // The test is worth something only if enough sessions record departures.
    assert!(left as u64 > count / 3, "{left}");
}

/// What a room with some transactions and a snapshot has stored. It records departures.
fn stored() -> Stored {
    let mut world = World::durable(1, demo(), 2);
    let [ada, bo] = [(); 2].map(|()| world.add());
    let [draw, _] = [ada, bo].map(|person| world.channel(person, "draw", DRAW.departures()));
    world.run(1000 * MS);
    for n in 0..50 {
        world.send(if n % 3 == 0 { bo } else { ada }, draw, &format!("line {n}"));
        world.run(60 * MS);
    }
    world.settle();
    world.disk.unwrap().load().unwrap()
}

fn load(stored: Stored) -> Result<Room, groupwire_session::Error> {
    let config = room::Config { durability: Durability::Local, ..demo() };
    Room::load(config, Box::new(AllowAll), stored)
}

#[test]
fn a_stored_room_that_contradicts_itself_is_refused() {
    let whole = stored();
    assert!(!whole.parts.is_empty() && whole.transactions.len() > 3, "{whole:?}");
    assert!(load(whole.clone()).is_ok());
    let mut beyond = whole.clone();
    beyond.head = Position(beyond.head.get() - 1);
    assert!(load(beyond).is_err(), "a transaction that was never confirmed");
    let mut twice = whole.clone();
    twice.transactions[1].position = twice.transactions[0].position;
    assert!(load(twice).is_err(), "two transactions at one place");
    let mut of_nothing = whole.clone();
    of_nothing.parts[0].channels.push(ChannelNo(9));
    assert!(load(of_nothing).is_err(), "a part of an unknown channel");
    let mut unknown = whole.clone();
    unknown.last_participant = ParticipantId(1);
    unknown.transactions.retain(|one| one.author <= ParticipantId(1));
    assert!(
        load(unknown).is_err(),
        "a participant that was never there, of whom is to be said that it left"
    );
    let mut doubled = whole;
    doubled.parts.push(StoredPart { name: "other".into(), ..doubled.parts[0].clone() });
    assert!(load(doubled).is_err(), "two parts of one channel");
}

#[test]
fn a_loaded_room_writes_nothing_that_is_stored() {
    let mut room = load(stored()).unwrap();
    room.handle_input(Duration::ZERO, Input::Timeout);
    // The room writes the departures only later.
    assert!(matches!(room.poll_output(), Output::Timeout(Some(at)) if at > Duration::ZERO));
    room.handle_input(Duration::from_secs(11), Input::Timeout);
    let Output::Store(write) = room.poll_output() else { panic!("nothing is written") };
    let authors = write.transactions.iter().map(|one| one.author.get());
    assert_eq!(authors.collect::<Vec<_>>(), [0, 0]);
}

proptest! {
    #[test]
    fn damaged_bytes_of_a_stored_room_never_panic(
        facts: Vec<u8>,
        content: Vec<u8>,
        snapshot: Vec<u8>,
        at: proptest::sample::Index,
        bit in 0..8,
    ) {
        let mut room = stored_once();
        let byte = at.index(room.facts.len());
        room.facts[byte] ^= 1u8 << bit;
        drop(load(room.clone()));
        room.facts = facts;
        drop(load(room.clone()));
        let mut room = stored_once();
        room.transactions[0].content = content;
        drop(load(room.clone()));
        room.parts[0].content = snapshot;
        drop(load(room));
    }
}

/// [`stored`], made once.
fn stored_once() -> Stored {
    static STORED: std::sync::OnceLock<Stored> = std::sync::OnceLock::new();
    STORED.get_or_init(stored).clone()
}

/// A stored room with a large transaction between two small ones.
fn stored_in_pieces() -> Stored {
    let limits = Limits { max_message: 200, ..Limits::default() };
    let mut world = World::durable(3, room::Config { limits, ..demo() }, 2);
    let ada = world.add();
    let draw = world.channel(ada, "draw", DRAW);
    world.run(1000 * MS);
    world.send(ada, draw, "before");
    world.send(ada, draw, &"large ".repeat(200));
    world.send(ada, draw, "after");
    world.run(1000 * MS);
    world.disk.as_mut().unwrap().load().unwrap()
}

#[test]
fn w97_of_a_damaged_transaction_no_piece_is_left() {
    let whole = stored_in_pieces();
    let count = whole.transactions.len();
    assert_eq!(count, 8);
    for lost in 1..count - 1 {
        let mut stored = whole.clone();
        stored.transactions.remove(lost);
        let room = load(stored).unwrap();
        let left: Vec<Vec<u8>> =
            room.transactions_after(Position(0)).map(|one| one.bytes.to_vec()).collect();
        assert_eq!(left, [&b"before"[..], b"after"], "without number {lost}");
    }
    assert_eq!(load(whole).unwrap().transactions_after(Position(0)).count(), 3);
}
