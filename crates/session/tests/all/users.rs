//! Verified users: who the server says that the other participants are (wire W100).

use std::time::Duration;

use groupwire_session::client::{Config as ClientConfig, Event, ParticipantChange, Status};
use groupwire_session::{Limits, PresenceState, Qos, room};

use crate::support::{MS, World};

/// Adds a person with this token, whose application says this of itself.
fn add(world: &mut World, token: &str, presence: &str) -> usize {
    let (token, presence) = (token.into(), presence.into());
    world.add_with(ClientConfig { token, presence, ..ClientConfig::new("demo") })
}

/// The last state and user that a person was told of the participant with this presence.
fn told(world: &World, person: usize, presence: &str) -> (PresenceState, Option<String>) {
    let of = |change: &&ParticipantChange| change.presence == presence.as_bytes();
    let news = world.people[person].events.iter().rev().find_map(|event| match event {
        Event::Participants { changes, .. } => changes.iter().find(of),
        _ => None,
    });
    let change = news.expect(presence);
    (change.state, change.user.clone())
}

fn here(user: &str) -> (PresenceState, Option<String>) {
    (PresenceState::Here, Some(user.into()))
}

fn away(user: &str) -> (PresenceState, Option<String>) {
    (PresenceState::Away, Some(user.into()))
}

#[test]
fn w100_whoever_is_away_or_resumes_keeps_the_user_and_who_has_none_gets_none() {
    let mut world = World::new(1, room::Config::new("demo", 7));
    let [bo, _, mallory] = [("bo", "Bo"), ("ann:draw", "Ann"), ("", "Ann, really")]
        .map(|(token, presence)| add(&mut world, token, presence));
    let ann = 1;
    world.run(1000 * MS);
    assert_eq!(told(&world, bo, "Ann"), here("ann"), "rights are for the server alone");
    assert_eq!(told(&world, bo, "Ann, really"), (PresenceState::Here, None));
    assert_eq!(told(&world, mallory, "Ann"), here("ann"), "late joiners are told, too");
    world.people[ann].client.set_presence(b"Ann, drawing").unwrap();
    world.people[mallory].client.set_presence(b"user: ann").unwrap();
    world.run(500 * MS);
    assert_eq!(told(&world, bo, "Ann, drawing"), here("ann"));
    assert_eq!(told(&world, bo, "user: ann"), (PresenceState::Here, None));
    world.people[ann].reachable = false;
    world.cut(ann);
    world.run(1000 * MS);
    assert_eq!(told(&world, bo, "Ann, drawing"), away("ann"));
    world.people[ann].reachable = true;
    world.run(5000 * MS);
    assert_eq!(told(&world, bo, "Ann, drawing"), here("ann"));
    assert_eq!(world.people[ann].status, Some(Status::Connected));
}

#[test]
fn w94_w100_whoever_is_missing_after_a_restart_is_away_with_the_user_that_was_known() {
    let mut world = World::durable(2, room::Config::new("demo", 7), 5);
    let [bo, ann] =
        [("bo", "Bo"), ("ann", "Ann")].map(|(token, presence)| add(&mut world, token, presence));
    // A room without transactions is not stored.
    for person in [bo, ann] {
        let draw = world.channel(person, "draw", Qos::transaction());
        world.send(person, draw, "a line");
    }
    world.run(2000 * MS);
    assert_eq!(told(&world, bo, "Ann"), here("ann"));
    world.people[ann].reachable = false;
    world.restart();
    world.run(4000 * MS);
    assert_eq!(told(&world, bo, "Ann"), away("ann"));
    world.people[ann].reachable = true;
    world.run(5000 * MS);
    assert_eq!(told(&world, bo, "Ann"), here("ann"), "the server knows it from her token");
}

#[test]
fn w7_w100_the_longest_users_and_presences_fit_into_the_smallest_packets() {
    let limits = Limits { max_message: 6000, ..Limits::default() };
    let mut world = World::new(3, room::Config { limits, ..room::Config::new("demo", 7) });
    let limits = Limits { max_message: 6000, max_packet: 8192, ..Limits::default() };
    let person = |at: usize| ClientConfig {
        token: format!("{at}{}", "u".repeat(255)).into(),
        presence: vec![b'0' + at as u8; 4096],
        limits: limits.clone(),
        ..ClientConfig::new("demo")
    };
    for at in 0..9 {
        world.add_with(person(at));
    }
    world.run(Duration::from_secs(3));
    for at in 0..9 {
        assert_eq!(world.people[at].status, Some(Status::Connected), "{at}");
        for other in (0..9).filter(|other| *other != at) {
            let presence = format!("{other}").repeat(4096);
            assert_eq!(told(&world, at, &presence), here(&format!("{other}{}", "u".repeat(255))));
        }
    }
}
