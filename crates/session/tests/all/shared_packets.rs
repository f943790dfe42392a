//! What can wait a moment shares the packets of datagrams: settled values, pings and their answers,
//! contracts (wire W35, W41).

use std::time::Duration;

use groupwire_session::client::ChannelId;
use groupwire_session::trace::{Carrier, Packet};
use groupwire_session::{ParticipantId, Qos};

use crate::support::{Air, MS, World};

const POINTING: ChannelId = ChannelId(0);
const SHAPING: ChannelId = ChannelId(1);

/// Two people with datagrams in a room that is traced.
fn two() -> World {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..2 {
        let at = world.add();
        world.people[at].air = Air::CLEAR;
        world.people[at].delay = MS * 20;
        world.channel(at, "pointer", Qos::awareness().rate(0, 25));
        world.channel(at, "shape", Qos::awareness().rate(0, 25));
    }
    world.run(MS * 3000);
    world.room.set_tracing(true);
    world
}

/// The packets of the stream that went alone, and those that went together with a datagram, in one
/// direction.
fn alone_and_together(
    packets: &[Packet],
    participant: ParticipantId,
    is_outgoing: bool,
) -> (usize, usize) {
    let of = |carrier| {
        let which = move |one: &&Packet| {
            one.participant == participant
                && one.is_outgoing == is_outgoing
                && one.carrier == carrier
        };
        packets.iter().filter(which).map(|one| one.at)
    };
    let together =
        of(Carrier::Stream).filter(|at| of(Carrier::Datagrams).any(|other| other == *at)).count();
    (of(Carrier::Stream).count() - together, together)
}

#[test]
fn w41_settled_values_pings_and_answers_go_with_datagrams_that_go_anyway() {
    let mut world = two();
    let [sender, receiver] = [0, 1].map(|at| world.people[at].client.participant().unwrap());
    let mut packets = Vec::new();
    for step in 0..300 {
        world.send_key(0, POINTING, "", &format!(r#"{{"x":{step}}}"#));
        if step % 20 == 0 {
            world.send_key(0, SHAPING, "a", &format!(r#"{{"width":{step}}}"#));
        }
        world.run(MS * 40);
        packets.extend(world.room.traced());
    }
    // Each shape is settled, and there are some pings, of both ends, with their answers.
    let (alone, together) = alone_and_together(&packets, sender, false);
    assert!(alone <= 4 && together >= 18, "from the client: {alone} alone, {together} not");
    let (alone, together) = alone_and_together(&packets, receiver, true);
    assert!(alone <= 1 && together >= 18, "from the server: {alone} alone, {together} not");
}

#[test]
fn w41_a_settled_value_does_not_wait_long_for_a_datagram() {
    let mut world = two();
    let sender = world.people[0].client.participant().unwrap();
    world.send_key(0, SHAPING, "a", r#"{"width":1}"#);
    let sent = world.now;
    world.run(MS * 1000);
    let packets = world.room.traced();
    let settled = packets.iter().find(|one| {
        one.participant == sender && one.carrier == Carrier::Stream && !one.parts.is_empty()
    });
    let took = settled.map(|one| one.at - sent);
    let expected = Duration::from_millis(270)..Duration::from_millis(350);
    assert!(took.is_some_and(|took| expected.contains(&took)), "{took:?}");
}
