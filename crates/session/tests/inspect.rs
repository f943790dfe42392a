//! What packets are said to be made of.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod support;

use groupwire_session::client::ChannelId;
use groupwire_session::trace::{OCTET, Packet, Purpose, Way};
use groupwire_session::{Piece, Qos};
use support::{Air, MS, World};

const DRAWING: ChannelId = ChannelId(0);
const POINTING: ChannelId = ChannelId(1);

/// Three people, of whom the last has datagrams.
fn three() -> World {
    let mut world = World::with_tick(MS * 40);
    for max in [0, 0, 1200] {
        let at = world.add();
        world.people[at].air = Air { max, ..Air::default() };
        world.people[at].delay = MS * 10;
        world.channel(at, "draw", Qos::transaction());
        world.channel(at, "pointer", Qos::awareness());
    }
    world.run(MS * 500);
    world
}

fn act(world: &mut World, steps: usize) -> Vec<Packet> {
    let mut packets = Vec::new();
    for step in 0..steps {
        for person in 0..3 {
            let text = format!(r#"{{"type":"pointer","x":{},"y":{}}}"#, 9 + step * 3, 400 - step);
            world.send(person, POINTING, &text);
        }
        if step % 5 == 0 {
            world.send(
                0,
                DRAWING,
                &format!(r#"{{"type":"stroke","id":{step},"points":[{step},3]}}"#),
            );
        }
        world.run(MS * 40);
        packets.extend(world.room.traced());
    }
    packets
}

#[test]
fn a_packets_parts_add_up_to_its_octets() {
    let mut world = three();
    world.room.set_tracing(true);
    let before = world.room.stats();
    let mut packets = act(&mut world, 100);
    world.run(MS * 400);
    packets.extend(world.room.traced());
    let after = world.room.stats();
    for packet in &packets {
        let costs: u64 = packet.parts.iter().map(|part| u64::from(part.cost.unwrap())).sum();
        let body = (packet.octets - packet.private) as u64;
        let overhead = packet.overhead() as u64;
        assert!(packet.feedback <= packet.private && packet.private <= packet.octets, "{packet:?}");
        assert!(costs <= (body - overhead) * u64::from(OCTET), "{packet:?}");
        assert!((body - overhead) * u64::from(OCTET) < costs + u64::from(OCTET), "{packet:?}");
        // The type, the epoch's name, a check, the end.
        assert!(overhead <= 8, "{packet:?}");
    }
    let sum = |out: bool| -> u64 {
        packets.iter().filter(|one| one.out == out).map(|one| one.octets as u64).sum()
    };
    assert_eq!(sum(true), after.bytes_out_after - before.bytes_out_after);
    assert_eq!(sum(false), after.bytes_in_after - before.bytes_in_after);
    let new = |out: bool| {
        let parts = packets.iter().filter(|one| one.out == out).flat_map(|one| &one.parts);
        parts
            .filter(|part| part.purpose == Purpose::New)
            .map(|part| part.before as u64)
            .sum::<u64>()
    };
    assert_eq!(new(false), after.bytes_in_before - before.bytes_in_before);
    assert!(packets.iter().any(|one| one.way == Way::Datagram && one.out && !one.parts.is_empty()));
    assert!(packets.iter().any(|one| one.way == Way::Datagram && !one.out && one.feedback > 0));
    // Sums are of the same packets.
    let inspection = world.room.inspect(MS);
    assert_eq!(inspection.missed, 0);
    let carried = |out| inspection.carriages.iter().filter(move |one| one.out == out);
    assert_eq!(carried(true).map(|one| one.octets).sum::<u64>(), sum(true));
    assert_eq!(
        inspection.flows.iter().filter(|one| !one.out).map(|one| one.new_before).sum::<u64>(),
        new(false)
    );
    let ages: u64 = inspection.flows.iter().flat_map(|one| one.ages).sum();
    let firsts: u64 = inspection.flows.iter().map(|one| one.messages[0]).sum();
    assert_eq!(ages, firsts);
}

#[test]
fn once_models_know_them_messages_are_small_and_ones_own_smaller() {
    let mut world = three();
    act(&mut world, 100);
    world.room.set_tracing(true);
    let packets = act(&mut world, 50);
    let parts = || packets.iter().filter(|one| one.out).flat_map(|one| &one.parts);
    let mut costs: Vec<u32> = parts()
        .filter(|part| part.purpose == Purpose::New && part.channel == 2)
        .map(|part| part.cost.unwrap())
        .collect();
    costs.sort_unstable();
    assert!(costs[costs.len() / 2] < 6 * OCTET, "{costs:?}");
    let own: Vec<_> = parts().filter(|part| part.purpose == Purpose::Own).collect();
    assert!(!own.is_empty());
    assert!(own.iter().all(|part| part.before == 0 && part.sender == 1), "{own:?}");
}

#[test]
fn a_late_joiners_packets_say_so() {
    let mut world = three();
    act(&mut world, 20);
    world.room.set_tracing(true);
    let at = world.add();
    world.channel(at, "draw", Qos::transaction());
    world.channel(at, "pointer", Qos::awareness());
    world.run(MS * 500);
    let packets = world.room.traced();
    let state =
        packets.iter().flat_map(|one| &one.parts).filter(|one| one.purpose == Purpose::State);
    assert!(state.count() >= 4, "{packets:?}");
}

#[test]
fn templates_are_readable_and_nothing_is_kept_while_nobody_looks() {
    let mut world = three();
    act(&mut world, 20);
    assert!(world.room.traced().is_empty());
    let (stream, _) = world.room.templates(1);
    let text: Vec<String> = stream.iter().map(|template| readable(&template.pieces)).collect();
    assert!(
        text.contains(&r#"{"type":"pointer","x":<number>,"y":<number>}"#.to_owned()),
        "{text:?}"
    );
    assert_eq!(world.room.templates(99), (Vec::new(), Vec::new()));
    assert!(world.room.inspect(MS).flows.is_empty());
}

fn readable(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Fixed(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Piece::Hole { kind, .. } => format!("<{kind}>"),
    };
    pieces.iter().map(piece).collect()
}

#[test]
fn what_is_recorded_is_what_was_sent_once() {
    let mut world = three();
    world.room.set_recording(true);
    act(&mut world, 10);
    world.run(MS * 200);
    let (recorded, missed) = world.room.recorded();
    assert_eq!((recorded.len(), missed), (32, 0));
    assert!(
        recorded
            .iter()
            .filter(|one| one.channel == 1)
            .all(|one| one.bytes.starts_with(br#"{"type":"stroke""#))
    );
    world.room.set_recording(false);
    act(&mut world, 3);
    assert!(world.room.recorded().0.is_empty());
}
