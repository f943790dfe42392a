//! Tokens that expire, and are renewed while a participant is in the room (wire W98).

use groupwire_session::client::{
    Config as ClientConfig, Event, Input as ClientInput, Output, Status,
};
use groupwire_session::room::{self, Input, Room};
use groupwire_session::{
    Access, Authority, Durability, Error, Grant, LinkId, OpenRequest, PartRequest, Qos, name_of,
};

use crate::support::{MS, World, errors};

const DRAW: Qos = Qos::transaction();

/// An authority by the words of a token: `read`, `draw` to publish, and `snapshot` to make parts.
struct ByRights;

impl ByRights {
    fn may(rights: &[u8], word: &str) -> bool {
        String::from_utf8_lossy(rights).contains(word)
    }
}

impl Authority for ByRights {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let rights = &request.identity.rights;
        if !Self::may(rights, "read") {
            return Err("you may not read".into());
        }
        let access = Access { publish: Self::may(rights, "draw"), subscribe: true };
        Ok(Grant { access, qos: request.qos })
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        match Self::may(&request.identity.rights, "snapshot") {
            true => Ok(()),
            false => Err("you may not upload snapshots".into()),
        }
    }
}

/// A stored room with a person who has this token, and another one who reads.
fn with_token(token: &str) -> (World, usize, usize) {
    let config = room::Config::new("demo", 7);
    let mut world = World::durable(4, config.clone(), 5);
    let config = room::Config { durability: Durability::Local, ..config };
    world.room = Room::new(config, Box::new(ByRights));
    let person = |token: &str| ClientConfig { token: token.into(), ..ClientConfig::new("demo") };
    let ada = world.add_with(person(token));
    let bo = world.add_with(person("bo:read"));
    for one in [ada, bo] {
        world.channel(one, "draw", DRAW);
    }
    world.run(1000 * MS);
    (world, ada, bo)
}

fn count(world: &World, person: usize, is_it: impl Fn(&Event) -> bool) -> usize {
    world.people[person].events.iter().filter(|event| is_it(event)).count()
}

fn joined(world: &World, person: usize) -> usize {
    count(world, person, |event| matches!(event, Event::Joined { .. }))
}

fn renew(world: &mut World, person: usize, token: &str) {
    world.people[person].client.set_token(token.as_bytes()).unwrap();
    world.run(1000 * MS);
}

/// The transport of the first person who joined.
const FIRST: LinkId = LinkId(1);

#[test]
fn w98_a_client_is_asked_for_a_token_and_goes_on_with_it() {
    let (mut world, ada, bo) = with_token("ada:read draw snapshot");
    let draw = world.channel(ada, "draw", DRAW);
    let now = world.now;
    world.room.handle_input(now, Input::TokenWanted { link: FIRST });
    world.run(200 * MS);
    assert_eq!(count(&world, ada, |event| matches!(event, Event::TokenWanted)), 1);
    assert_eq!(count(&world, bo, |event| matches!(event, Event::TokenWanted)), 0);
    renew(&mut world, ada, "ada:read draw snapshot, and more");
    world.send(ada, draw, "a line");
    world.run(500 * MS);
    assert_eq!(world.people[bo].document, ["a line"]);
    assert_eq!(
        (joined(&world, ada), errors(&world, ada)),
        (1, Vec::new()),
        "on the same transport"
    );
}

#[test]
fn w98_a_token_of_another_user_or_a_forged_one_ends_the_session() {
    for (token, why) in [("eve:read draw snapshot", "another user"), ("forged", "not this token")] {
        let (mut world, ada, _) = with_token("ada:read draw snapshot");
        renew(&mut world, ada, token);
        assert_eq!(world.people[ada].status, Some(Status::Closed));
        assert!(errors(&world, ada)[0].contains(why), "{:?}", errors(&world, ada));
    }
}

#[test]
fn w98_a_flood_of_tokens_ends_its_connection() {
    let (mut world, ada, bo) = with_token("ada:read draw snapshot");
    for nth in 0..60 {
        world.people[ada]
            .client
            .set_token(format!("ada:read draw snapshot {nth}").as_bytes())
            .unwrap();
    }
    world.run(2000 * MS);
    assert_eq!(errors(&world, ada), Vec::<String>::new(), "that many may come in a second");
    for nth in 0..100 {
        world.people[ada]
            .client
            .set_token(format!("ada:read draw snapshot {nth}").as_bytes())
            .unwrap();
    }
    world.run(2000 * MS);
    let told = errors(&world, ada);
    assert!(told.iter().any(|error| error.contains("requests in a second")), "{told:?}");
    assert_eq!(
        (joined(&world, ada), joined(&world, bo)),
        (2, 1),
        "she is back, and nobody else was gone"
    );
}

#[test]
fn w98_fewer_rights_hold_at_once_and_lose_nothing() {
    let (mut world, ada, bo) = with_token("ada:read draw snapshot");
    let draw = world.channel(ada, "draw", DRAW);
    world.send(ada, draw, "before");
    world.run(500 * MS);
    renew(&mut world, ada, "ada:read");
    world.run(2000 * MS);
    assert_eq!(joined(&world, ada), 2, "she opened her channels again");
    let message = groupwire_session::client::Outgoing::default();
    let now = world.now;
    let refused = world.people[ada].client.send(now, draw, message);
    assert!(matches!(refused, Err(Error::NotAllowed { .. })), "{refused:?}");
    assert_eq!(world.people[ada].document, ["before"]);
    assert_eq!(world.people[ada].holes, 0);
    assert_eq!(joined(&world, bo), 1);
    // The right to upload parts of the snapshot counts, too.
    let (mut world, ada, _) = with_token("ada:read draw snapshot");
    renew(&mut world, ada, "ada:read draw");
    world.run(2000 * MS);
    assert_eq!(joined(&world, ada), 2);
}

#[test]
fn w98_a_revoked_token_is_replaced_and_a_banned_user_stays_away() {
    let (mut world, ada, bo) = with_token("ada:read draw snapshot");
    let now = world.now;
    world.room.handle_input(now, Input::Fail { link: FIRST, error: Error::Revoked });
    world.run(20_000 * MS);
    assert_eq!(joined(&world, ada), 1, "she does not dial with the revoked token");
    assert_eq!(count(&world, ada, |event| matches!(event, Event::TokenWanted)), 1);
    renew(&mut world, ada, "ada:read draw snapshot");
    world.run(10_000 * MS);
    assert_eq!(joined(&world, ada), 2);

    // The harness numbers transports in the order in which they were opened.
    let error = Error::Banned { why: "for good".into() };
    let now = world.now;
    world.room.handle_input(now, Input::Fail { link: LinkId(2), error });
    world.run(20_000 * MS);
    assert_eq!((joined(&world, bo), world.people[bo].status), (1, Some(Status::Closed)));
    let said = world.people[bo].events.iter().find_map(|event| match event {
        Event::Error { error, fatal: true, .. } => Some((name_of(error.code()), error.to_string())),
        _ => None,
    });
    let (name, text) = said.unwrap();
    assert!(name == "banned" && text.contains("for good"), "{text}");
}

#[test]
fn w98_who_has_an_expired_token_does_not_dial_until_there_is_another_one() {
    let (mut world, ada, bo) = with_token("ada:read draw snapshot");
    let draw = world.channel(ada, "draw", DRAW);
    let now = world.now;
    world.room.handle_input(now, Input::Fail { link: FIRST, error: Error::Expired });
    world.run(20_000 * MS);
    let wanted = |world: &World| count(world, ada, |event| matches!(event, Event::TokenWanted));
    assert_eq!((wanted(&world), joined(&world, ada)), (1, 1));
    assert_eq!(world.people[ada].status, Some(Status::Reconnecting));
    let said = world.people[ada].events.iter().find_map(|event| match event {
        Event::Error { error, fatal: false, .. } => Some(error.code()),
        _ => None,
    });
    assert_eq!(said.map(name_of), Some("expired"));
    let mut outputs = std::iter::repeat_with(|| world.people[ada].client.poll_output(now));
    let timeout = outputs.find_map(|output| match output {
        Output::Timeout(at) => Some(at),
        _ => None,
    });
    assert_eq!(timeout, Some(None), "it wants no timer");
    world.send(ada, draw, "while there is no token");
    // Even a hint that the network is back does not make the client dial.
    world.people[ada].client.handle_input(now, ClientInput::Hurry);
    world.run(5000 * MS);
    assert_eq!(joined(&world, ada), 1);
    renew(&mut world, ada, "ada:read draw snapshot");
    world.run(10_000 * MS);
    assert_eq!(joined(&world, ada), 2);
    assert_eq!(world.people[bo].document, ["while there is no token"]);
}
