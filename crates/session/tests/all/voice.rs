//! Frames of sound: sent between ticks, of the loudest only, and neither recorded nor shown.

use groupwire_session::client::{ChannelId, Outgoing};
use groupwire_session::room::{Newest, NotPublished, Publication, Reading, Visit};
use groupwire_session::{ContractState, Error, Identity, Qos};

use crate::support::{Air, MS, World};

const VOICE: ChannelId = ChannelId(0);
const POINTER: ChannelId = ChannelId(1);

/// People in a room whose ticks are a second apart, with datagrams of at most `max` bytes.
fn talking(people: usize, max: usize, qos: Qos) -> World {
    let mut world = World::with_tick(MS * 1000);
    for _ in 0..people {
        let at = world.add();
        world.people[at].air = Air { max, ..Air::default() };
        world.people[at].delay = MS * 10;
        world.channel(at, "voice", qos);
        world.channel(at, "pointer", Qos::awareness());
    }
    world.run(MS * 3000);
    world
}

/// A frame with voice, this many decibels below the loudest.
fn say(world: &mut World, person: usize, below: u8) {
    let bytes = &[0x80 | below, 0, 0, 0, 7, 7, 7];
    let message = Outgoing { bytes, ..Outgoing::default() };
    world.people[person].client.send(world.now, VOICE, message).unwrap();
}

/// The indices of the frames that a person got from another one.
fn heard(world: &World, person: usize, from: usize) -> Vec<u32> {
    let from = world.people[from].client.participant().unwrap();
    let messages = world.people[person].messages.iter();
    let frames = messages.filter(|one| one.channel == VOICE && one.sender == from);
    frames.map(|one| one.index.0).collect()
}

#[test]
fn w119_frames_do_not_wait_for_ticks() {
    for max in [0, 1200] {
        let mut world = talking(3, max, Qos::voice());
        for _ in 0..20 {
            say(&mut world, 0, 30);
            world.run(MS * 20);
        }
        world.run(MS * 30);
        for listener in [1, 2] {
            assert_eq!(heard(&world, listener, 0), (1..=20).collect::<Vec<_>>());
            let frames = world.people[listener].messages.iter().filter(|one| one.channel == VOICE);
            let oldest = frames.map(|one| one.age).max().unwrap();
            assert!(oldest <= MS * 50, "{oldest:?}, with datagrams of {max}");
        }
    }
}

#[test]
fn w119_the_others_are_not_sent_and_not_missed() {
    for max in [0, 1200] {
        let mut world = talking(3, max, Qos::voice().speakers(1));
        // The first person has the place; the second is not louder, until the first is silent.
        for round in 0..400 {
            if !(150..250).contains(&round) {
                say(&mut world, 0, 30);
            }
            say(&mut world, 1, 30);
            world.run(MS * 20);
        }
        world.run(MS * 1000);
        let (first, second) = (heard(&world, 2, 0), heard(&world, 2, 1));
        assert!((150..400).contains(&(first.len() + second.len())), "{first:?} {second:?}");
        for indices in [&first, &second] {
            let expected = 1..=indices.len() as u32;
            assert!(!indices.is_empty() && indices.iter().copied().eq(expected), "{indices:?}");
        }
        let contract = world.people[2].client.contract(VOICE).unwrap();
        assert_eq!(contract.state, ContractState::Met);
        // A participant whose frames are not passed on still receives those of others.
        assert_eq!(heard(&world, 1, 0), first);
    }
}

#[test]
fn w119_nobodys_voice_is_recorded_or_shown() {
    let mut world = talking(2, 1200, Qos::voice());
    world.room.set_recording(true);
    world.send(0, POINTER, "here");
    let ann = world
        .room
        .visit(world.now, &Visit { identity: &Identity::default(), name: "ann" })
        .unwrap();
    for _ in 0..20 {
        say(&mut world, 0, 30);
        world.run(MS * 20);
        let newest =
            Newest { transactions_before: None, values_before: None, limit: 9, max_bytes: 9 };
        let shown = world.room.newest(world.now, "voice", &newest).unwrap();
        assert_eq!(shown, (Vec::new(), Vec::new()));
        let reading = Reading { channels: &["voice"], after: None, limit: 9, max_bytes: 99 };
        assert!(world.room.read(world.now, ann, &reading).unwrap().messages.is_empty());
    }
    world.run(MS * 50);
    assert_eq!(heard(&world, 1, 0).len(), 20);
    let (recorded, missed) = world.room.recorded();
    let recorded: Vec<&[u8]> = recorded.iter().map(|one| &one.bytes[..]).collect();
    assert_eq!((recorded, missed), (vec![&b"here"[..]], 0));
    // A late joiner gets no earlier frames.
    let late = world.add();
    world.channel(late, "voice", Qos::voice());
    world.channel(late, "pointer", Qos::awareness());
    world.run(MS * 2000);
    assert_eq!(heard(&world, late, 0), Vec::<u32>::new());
    say(&mut world, 0, 30);
    world.run(MS * 100);
    assert_eq!(heard(&world, late, 0), [21]);
}

#[test]
fn w119_frames_come_from_participants_only() {
    let mut world = talking(1, 0, Qos::voice());
    let publication =
        Publication { channel: "voice", bytes: &[0x80], text: false, key: None, request: None };
    let refused = world.room.publish(world.now, &publication);
    assert!(matches!(refused, Err(NotPublished::Failed(Error::NotAllowed { .. }))), "{refused:?}");
}

#[test]
fn w119_the_number_of_speakers_stays() {
    let mut world = talking(2, 0, Qos::voice());
    // A client that does not know the bits asks for another loss, and sends 0 in them.
    let changed = world.people[1].client.set_qos(VOICE, Qos::voice().loss_per_mille(50));
    changed.unwrap();
    world.run(MS * 2000);
    assert_eq!(
        world.people[0].client.contract(VOICE).unwrap().qos,
        Qos::voice().loss_per_mille(50)
    );
    assert!(world.people[1].client.set_qos(VOICE, Qos::voice().speakers(0)).is_err());
}
