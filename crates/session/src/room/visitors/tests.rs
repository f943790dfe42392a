//! Visitors of a room without any transport.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::room::{Config, Input, Output, Publication, Published, RequestKey, Room};
use crate::{Access, Authority, Durability, Grant, OpenRequest, Quota, Quotas};

/// The user `guest` may not publish, and nobody may read the channel `secret`.
struct Rules;

impl Authority for Rules {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        let publish = request.identity.subject != b"guest";
        let subscribe = request.channel != "secret";
        Ok(Grant { access: Access { publish, subscribe }, qos: request.qos })
    }
}

fn room(config: Config) -> Room {
    Room::new(config, Box::new(Rules))
}

fn user(name: &str) -> Identity {
    Identity { subject: name.as_bytes().to_vec(), rights: Vec::new() }
}

fn visit(room: &mut Room, now: Duration, name: &str) -> ParticipantId {
    let id = room.visit(now, &Visit { identity: &user(name), name: "" }).unwrap();
    room.handle_input(now, Input::Timeout);
    id
}

fn message<'a>(channel: &'a str, text: &'a str, request: u8) -> VisitorMessage<'a> {
    let request = Some(RequestKey { key: [request; 16], content: [text.len() as u8; 8] });
    let publication =
        Publication { channel, bytes: text.as_bytes(), text: true, key: None, request };
    let create = Some(if channel == "pointers" { Qos::awareness() } else { Qos::transaction() });
    VisitorMessage { publication, create }
}

fn texts(page: &Page) -> Vec<(u64, String)> {
    let text = |one: &ReadMessage| String::from_utf8(one.message.bytes.clone()).unwrap();
    page.messages.iter().map(|one| (one.message.position.get(), text(one))).collect()
}

fn reading<'a>(channels: &'a [&'a str], after: Option<Place>, limit: usize) -> Reading<'a> {
    Reading { channels, after, limit, max_bytes: 1 << 20 }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_visitor_stays_while_it_comes_again_and_leaves_like_one_whose_transport_is_gone() {
    let mut room = room(Config::new("demo", 1));
    let ann = visit(&mut room, Duration::ZERO, "ann");
    let away = room.common.config.timing.away;
    assert_eq!(visit(&mut room, away - SECOND, "ann"), ann);
    assert_ne!(visit(&mut room, away - SECOND, "bob"), ann);
    let until = |room: &mut Room, end: Duration| {
        let mut now = away - SECOND;
        while now < end {
            now += Duration::from_millis(250);
            room.handle_input(now, Input::Timeout);
            while !matches!(room.poll_output(), Output::Timeout(_)) {}
        }
    };
    until(&mut room, 2 * away - 2 * SECOND);
    let names = |room: &Room| -> Vec<Option<String>> {
        room.people(ParticipantId(0), 9).into_iter().map(|one| one.user).collect()
    };
    assert_eq!(names(&room), [Some("ann".to_string()), Some("bob".to_string())]);
    until(&mut room, 2 * away);
    assert!(names(&room).is_empty() && room.is_empty());
    assert_ne!(visit(&mut room, 3 * away, "ann"), ann, "it is another participant");
}

#[test]
fn a_request_is_carried_out_once_for_its_user_even_if_the_visitor_has_left() {
    let mut room = room(Config::new("demo", 1));
    let ann = visit(&mut room, Duration::ZERO, "ann");
    let first = room.publish_for(Duration::ZERO, ann, &message("draw", "a", 1)).unwrap();
    assert_eq!(first, Published::Transaction { position: Position(1), repeated: false });
    let again = room.publish_for(Duration::ZERO, ann, &message("draw", "a", 1)).unwrap();
    assert_eq!(again, Published::Transaction { position: Position(1), repeated: true });
    let other = room.publish_for(Duration::ZERO, ann, &message("draw", "other", 1));
    assert_eq!(other, Err(NotAccepted::NotPublished(NotPublished::OtherContent)));
    room.publish_for(Duration::ZERO, ann, &message("draw", "b", 2)).unwrap();
    let page = room.read(SECOND, ann, &reading(&["draw"], Some(Place::default()), 9)).unwrap();
    assert_eq!(texts(&page), [(1, "a".to_string()), (2, "b".to_string())]);
    assert_eq!(page.messages[0].user.as_deref(), Some("ann"));
    assert_eq!(page.messages[0].message.sender, ann);
}

#[test]
fn pages_together_have_everything_once() {
    let mut room = room(Config::new("demo", 1));
    let ann = visit(&mut room, Duration::ZERO, "ann");
    for nth in 1..=7 {
        let channel = if nth % 3 == 0 { "other" } else { "draw" };
        room.publish_for(Duration::ZERO, ann, &message(channel, &nth.to_string(), nth)).unwrap();
        room.publish_for(Duration::ZERO, ann, &message("pointers", &nth.to_string(), 0)).unwrap();
    }
    let channels = ["draw", "pointers"];
    let (mut place, mut all, mut more) = (Place::default(), vec![], true);
    while more {
        let page = room.read(SECOND, ann, &reading(&channels, Some(place), 2)).unwrap();
        all.extend(texts(&page).into_iter().map(|(_, text)| text));
        (place, more) = (page.place, page.more);
        assert!(page.messages.len() <= 4 && page.missed.is_empty());
    }
    assert_eq!(all, ["1", "2", "4", "5", "7", "7"], "and the newest value of the key");
    assert_eq!(place, room.newest_place());
    let nothing = room.read(SECOND, ann, &reading(&channels, Some(place), 2)).unwrap();
    assert!(nothing.messages.is_empty());
    let newest = room.read(SECOND, ann, &reading(&["draw"], None, 2)).unwrap();
    assert_eq!(texts(&newest), [(5, "5".to_string()), (7, "7".to_string())]);
}

#[test]
fn nothing_is_read_or_published_without_the_right() {
    let mut room = room(Config::new("demo", 1));
    let (ann, guest) =
        (visit(&mut room, Duration::ZERO, "ann"), visit(&mut room, Duration::ZERO, "guest"));
    let refused = room.publish_for(Duration::ZERO, guest, &message("draw", "a", 1));
    assert!(matches!(refused, Err(NotAccepted::Refused(_))), "{refused:?}");
    room.publish_for(Duration::ZERO, ann, &message("secret", "a", 1)).unwrap();
    for channels in [&["secret"][..], &["draw", "secret"]] {
        let refused = room.read(SECOND, ann, &reading(channels, None, 9));
        assert!(matches!(refused, Err(NotRead::Refused { .. } | NotRead::NoChannel(_))));
    }
    let unknown = room.read(SECOND, ann, &reading(&["none"], None, 9));
    assert_eq!(unknown, Err(NotRead::NoChannel("none".to_string())));
    let mut made = message("none", "a", 2);
    made.create = None;
    let none = room.publish_for(SECOND, ann, &made);
    assert_eq!(none, Err(NotAccepted::NotPublished(NotPublished::NoChannel)));
    assert_eq!(room.publish_for(SECOND, ParticipantId(99), &made), Err(NotAccepted::Gone));
}

#[test]
fn a_stored_room_shows_transactions_and_later_values_when_they_are_durable() {
    let config = Config { durability: Durability::Local, ..Config::new("demo", 1) };
    let mut room = room(config);
    let ann = visit(&mut room, Duration::ZERO, "ann");
    room.publish_for(Duration::ZERO, ann, &message("draw", "a", 1)).unwrap();
    room.publish_for(Duration::ZERO, ann, &message("pointers", "b", 0)).unwrap();
    let channels = ["draw", "pointers"];
    let all = reading(&channels, Some(Place::default()), 9);
    assert!(room.read(SECOND, ann, &all).unwrap().messages.is_empty());
    let before = room.tidings();
    while !matches!(room.poll_output(), Output::Timeout(_)) {}
    let (position, reserved) = (Position(1), ParticipantId(1000));
    room.handle_input(SECOND, Input::Durable { position, reserved });
    assert_ne!(room.tidings(), before);
    assert_eq!(room.read(SECOND, ann, &all).unwrap().messages.len(), 2);
}

#[test]
fn what_the_log_has_dropped_is_told() {
    let mut config = Config::new("demo", 1);
    config.limits.max_log_bytes = 400;
    let mut room = room(config);
    let ann = visit(&mut room, Duration::ZERO, "ann");
    for nth in 1..=9 {
        room.publish_for(Duration::ZERO, ann, &message("draw", &nth.to_string(), nth)).unwrap();
    }
    let page = room.read(SECOND, ann, &reading(&["draw"], Some(Place::default()), 9)).unwrap();
    let first = page.messages[0].message.position;
    let missed = MissedBefore { channel: 0, position: Position(first.get() - 1) };
    assert_eq!(page.missed, [missed]);
    room.reset(SECOND, &["draw".to_string()]).unwrap();
    let page = room.read(SECOND, ann, &reading(&["draw"], Some(page.place), 9)).unwrap();
    assert_eq!(page.missed, [MissedBefore { channel: 0, position: Position(10) }]);
    assert!(page.messages.is_empty());
}

#[test]
fn a_visitor_above_its_quota_waits() {
    let quota = Quota { bytes: 10, deliveries: u64::MAX };
    let quotas = Quotas { participant: quota, burst: SECOND, ..Quotas::default() };
    let mut room = room(Config { quotas, ..Config::new("demo", 1) });
    let ann = visit(&mut room, Duration::ZERO, "ann");
    let long = "some thirty bytes of text, or so";
    room.publish_for(Duration::ZERO, ann, &message("draw", long, 1)).unwrap();
    let again = room.publish_for(Duration::ZERO, ann, &message("draw", long, 2));
    let Err(NotAccepted::TooOften(wait)) = again else { panic!("{again:?}") };
    room.publish_for(wait, ann, &message("draw", long, 2)).unwrap();
}

#[test]
fn changes_of_participants_are_told_and_all_of_them_if_too_many_left() {
    let mut room = room(Config::new("demo", 1));
    visit(&mut room, Duration::ZERO, "ann");
    let first = room.people_after(0);
    assert!(first.complete && first.changed.len() == 1 && first.count == 1);
    let bob = visit(&mut room, Duration::ZERO, "bob");
    let second = room.people_after(first.version);
    assert!(!second.complete && second.changed.len() == 1 && second.changed[0].id == bob);
    room.leave(bob);
    let third = room.people_after(second.version);
    assert_eq!(third.changed[0].state, PresenceState::Left);
    assert!(room.people_after(third.version).changed.is_empty());
    for nth in 0..300 {
        let id = visit(&mut room, Duration::ZERO, &nth.to_string());
        room.leave(id);
    }
    assert!(room.people_after(third.version).complete, "some departures are forgotten");
    assert!(room.people_after(u64::MAX).complete, "a version of another room");
}
