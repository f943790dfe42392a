use groupwire_client::{Event, Options, SendOptions, Status};
use groupwire_session::Identity;
use groupwire_simulation::{Identify, Join, Simulation, SimulationOptions};

use super::{Person, seeded, settle};

fn identity(user: &str, rights: &str) -> Identity {
    Identity { subject: user.into(), rights: rights.into() }
}

/// A server whose tokens are names; nobody called eve may join.
fn guarded() -> Simulation {
    let identify: Identify = Box::new(|token| match token {
        "eve" => Err("eve is not a friend".to_owned()),
        user => Ok(identity(user, "")),
    });
    Simulation::new(SimulationOptions { identify: Some(identify), ..Default::default() })
}

fn with_token(token: &str) -> Options {
    Options { token: token.into(), ..Options::new("room") }
}

#[test]
fn a_token_says_who_somebody_is() {
    let simulation = guarded();
    let ada = Person::with(&simulation, Join::default(), with_token("ada"));
    let mut bo = Person::with(&simulation, Join::default(), with_token("bo"));
    settle(&simulation, &[&ada, &bo]);
    let users: Vec<Option<String>> = bo
        .news()
        .into_iter()
        .filter_map(|event| match event {
            Event::Participants { changes, .. } => Some(changes),
            _ => None,
        })
        .flatten()
        .map(|change| change.user.map(|user| user.to_string()))
        .collect();
    assert_eq!(users, [Some("ada".to_owned())]);
}

#[test]
fn whoever_is_refused_is_told_why() {
    let simulation = guarded();
    let mut eve = Person::with(&simulation, Join::default(), with_token("eve"));
    let error = simulation.block_on(eve.room.joined()).unwrap().unwrap_err();
    assert!(error.to_string().contains("eve is not a friend"), "{error}");
    assert!(eve.news().contains(&Event::Status(Status::Closed)));
    assert!(simulation.log(10).contains("the server refuses a"));
}

#[test]
fn a_token_that_expires_is_asked_for_again() {
    let simulation = guarded();
    let mut ada = Person::with(&simulation, Join::default(), with_token("ada"));
    settle(&simulation, &[&ada]);
    simulation.expire_token(ada.member);
    settle(&simulation, &[&ada]);
    assert!(ada.news().contains(&Event::TokenWanted));
    ada.room.set_token(b"eve").unwrap();
    simulation.advance(Some(simulation.now() + super::QUIET)).unwrap();
    assert!(ada.room.is_over(), "the server refuses the new token");
}

#[test]
fn rights_are_those_of_the_identity() {
    let simulation = seeded(1);
    let reader = Join { identity: Some(identity("bo", "publish")), ..Join::default() };
    let (ada, bo) = (Person::join(&simulation, Join::default()), Person::join(&simulation, reader));
    settle(&simulation, &[&ada, &bo]);
    assert!(bo.chat.send("not permitted", SendOptions::default()).is_err());
}
