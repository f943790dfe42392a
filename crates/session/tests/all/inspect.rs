//! The descriptions of packets and participants for the inspector.

use groupwire_session::client::ChannelId;
use groupwire_session::room::{Event, Inspection, TransportFacts};
use groupwire_session::trace::{BYTE_COST, Carrier, Packet, Purpose};
use groupwire_session::{ChannelNo, ParticipantId, Piece, Qos};

use crate::support::{Air, MS, World};

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
fn a_packets_parts_add_up_to_its_bytes() {
    let mut world = three();
    world.room.set_tracing(true);
    let before = world.room.stats();
    let mut packets = act(&mut world, 100);
    world.run(MS * 400);
    packets.extend(world.room.traced());
    let after = world.room.stats();
    for packet in &packets {
        let costs: u64 = packet.parts.iter().map(|part| u64::from(part.cost.unwrap())).sum();
        let body = (packet.bytes - packet.header_bytes) as u64;
        let overhead = packet.overhead() as u64;
        assert!(
            packet.feedback_bytes <= packet.header_bytes && packet.header_bytes <= packet.bytes,
            "{packet:?}"
        );
        assert!(costs <= (body - overhead) * u64::from(BYTE_COST), "{packet:?}");
        assert!(
            (body - overhead) * u64::from(BYTE_COST) < costs + u64::from(BYTE_COST),
            "{packet:?}"
        );
        // The overhead is the type, the epoch, the check and the padding.
        assert!(overhead <= 8, "{packet:?}");
    }
    let sum = |out: bool| -> u64 {
        packets.iter().filter(|one| one.is_outgoing == out).map(|one| one.bytes as u64).sum()
    };
    assert_eq!(sum(true), after.bytes_out_after - before.bytes_out_after);
    assert_eq!(sum(false), after.bytes_in_after - before.bytes_in_after);
    let new = |out: bool| {
        let parts = packets.iter().filter(|one| one.is_outgoing == out).flat_map(|one| &one.parts);
        parts
            .filter(|part| part.purpose == Purpose::New)
            .map(|part| part.before as u64)
            .sum::<u64>()
    };
    assert_eq!(new(false), after.bytes_in_before - before.bytes_in_before);
    assert!(
        packets.iter().any(|one| one.carrier == Carrier::Datagrams
            && one.is_outgoing
            && !one.parts.is_empty())
    );
    assert!(packets.iter().any(|one| one.carrier == Carrier::Datagrams
        && !one.is_outgoing
        && one.feedback_bytes > 0));
    // Sums are of the same packets.
    let inspection = world.room.inspect(MS);
    assert_eq!(inspection.missed, 0);
    let carried = |out| inspection.carrier_totals.iter().filter(move |one| one.is_outgoing == out);
    assert_eq!(carried(true).map(|one| one.bytes).sum::<u64>(), sum(true));
    assert_eq!(
        inspection
            .flows
            .iter()
            .filter(|one| !one.is_outgoing)
            .map(|one| one.new_before)
            .sum::<u64>(),
        new(false)
    );
    let ages: u64 = inspection.flows.iter().flat_map(|one| one.ages).sum();
    let firsts: u64 = inspection.flows.iter().map(|one| one.messages[0]).sum();
    assert_eq!(ages, firsts);
}

/// What the inspector of a room tells of one participant in one direction: bytes of messages, each
/// counted once, of payloads, and of packets.
fn told(inspection: &Inspection, participant: ParticipantId, out: bool) -> [u64; 3] {
    let flows = inspection.flows.iter();
    let flows = flows.filter(|one| (one.participant, one.is_outgoing) == (participant, out));
    let carried = inspection.carrier_totals.iter();
    let carried = carried.filter(|one| (one.participant, one.is_outgoing) == (participant, out));
    let (mut bytes, mut headers) = (0, 0);
    for one in carried {
        bytes += one.bytes;
        headers += one.header_bytes;
    }
    [flows.map(|one| one.new_before + one.state_before).sum(), bytes - headers, bytes]
}

#[test]
fn clients_and_the_inspector_count_messages_payloads_and_packets_alike() {
    let mut world = three();
    act(&mut world, 30);
    world.run(MS * 1000);
    world.room.set_tracing(true);
    let counted = |world: &World| -> Vec<_> {
        world.people.iter().map(|person| person.client.stats()).collect()
    };
    let before = counted(&world);
    act(&mut world, 100);
    world.run(MS * 1000);
    let after = counted(&world);
    let inspection = world.room.inspect(world.now);
    for (number, (before, after)) in (1..).map(ParticipantId).zip(before.iter().zip(&after)) {
        let sent = [
            after.bytes_out_before - before.bytes_out_before,
            after.payload_bytes_out - before.payload_bytes_out,
            after.bytes_out_after - before.bytes_out_after,
        ];
        let received = [
            after.bytes_in_before - before.bytes_in_before,
            after.payload_bytes_in - before.payload_bytes_in,
            after.bytes_in_after - before.bytes_in_after,
        ];
        assert_eq!(told(&inspection, number, false), sent, "from {number:?}");
        assert_eq!(told(&inspection, number, true), received, "to {number:?}");
        for [messages, payloads, packets] in [sent, received] {
            assert!(0 < payloads && payloads < packets && payloads < messages, "{number:?}");
        }
    }
}

#[test]
fn once_models_know_them_messages_are_small_and_ones_own_smaller() {
    let mut world = three();
    act(&mut world, 100);
    world.room.set_tracing(true);
    let packets = act(&mut world, 50);
    let parts = || packets.iter().filter(|one| one.is_outgoing).flat_map(|one| &one.parts);
    let mut costs: Vec<u32> = parts()
        .filter(|part| part.purpose == Purpose::New && part.channel == ChannelNo(2))
        .map(|part| part.cost.unwrap())
        .collect();
    costs.sort_unstable();
    assert!(costs[costs.len() / 2] < 6 * BYTE_COST, "{costs:?}");
    let own: Vec<_> = parts().filter(|part| part.purpose == Purpose::Own).collect();
    assert!(!own.is_empty());
    assert!(own.iter().all(|part| part.before == 0 && part.sender == ParticipantId(1)), "{own:?}");
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
    let (stream, _) = world.room.templates(ParticipantId(1));
    let text: Vec<String> = stream.iter().map(|template| readable(&template.pieces)).collect();
    assert!(
        text.contains(&r#"{"type":"pointer","x":<number>,"y":<number>}"#.to_owned()),
        "{text:?}"
    );
    assert_eq!(world.room.templates(ParticipantId(99)), (Vec::new(), Vec::new()));
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
            .filter(|one| one.channel == ChannelNo(1))
            .all(|one| one.bytes.starts_with(br#"{"type":"stroke""#))
    );
    world.room.set_recording(false);
    act(&mut world, 3);
    assert!(world.room.recorded().0.is_empty());
}

/// A sender that points and a receiver. `lost`: the share of lost datagrams on the path to either,
/// in percent.
fn lossy(lost: [u64; 2]) -> World {
    let mut world = World::with_tick(MS * 20);
    for lost in lost {
        let at = world.add();
        world.people[at].air = Air { max: 1200, lost, ..Air::default() };
        world.people[at].delay = MS * 10;
        let pointer = Qos::awareness().loss_per_mille(50).deadline(MS * 100);
        world.channel(at, "pointer", pointer);
        world.people[at].client.set_reason("It was asked for.");
    }
    world.run(MS * 500);
    world
}

/// The first person points for this many steps, with the inspector open or closed.
fn point(world: &mut World, steps: usize, is_watched: bool) {
    for step in 0..steps {
        world.send(0, ChannelId(0), &format!(r#"{{"x":{step},"y":{}}}"#, step * 2));
        world.run(MS * 40);
        if is_watched && step % 6 == 0 {
            world.room.inspect(world.now);
            world.room.traced();
        }
    }
}

fn transport(world: &mut World, person: usize) -> TransportFacts {
    let inspection = world.room.inspect(world.now);
    inspection.participants[person].transport.clone().unwrap()
}

#[test]
fn w84_a_receiver_tells_what_it_misses_and_by_which_transport() {
    let mut world = lossy([20, 20]);
    world.room.set_tracing(true);
    point(&mut world, 600, true);
    let [sender, receiver] = [0, 1].map(|person| transport(&mut world, person));
    assert_eq!(receiver.reason.as_deref(), Some("It was asked for."));
    let received = receiver.measured[0].received.clone().unwrap();
    // As the receiver's own application knows it, but for the last two seconds.
    let own = world.people[1].client.contract(ChannelId(0)).unwrap();
    let near = |one: u64, other: u64, by: u64| one.abs_diff(other) <= by;
    assert!(near(received.tally.judged, own.recent.judged, 10), "{received:?} {own:?}");
    assert!(near(received.tally.missed, own.recent.missed, 10), "{received:?} {own:?}");
    assert!(received.saved > 5, "repeats save some: {received:?}");
    assert!((MS * 16..=MS * 70).contains(&received.median), "{received:?}");
    assert!(received.p99 >= received.median, "{received:?}");
    let came: u32 = received.latencies.iter().sum();
    assert!((200..=600).contains(&came), "{received:?}");
    assert_eq!(receiver.measured[0].sent, None, "it sends nothing");
    // Both ends of both legs know the losses.
    let sent = sender.measured[0].sent.unwrap();
    assert!((200..=520).contains(&sent.judged), "{sent:?}");
    for lost in [receiver.lost_to, sender.lost_from] {
        assert!(lost.is_some_and(|lost| (0.1..0.3).contains(&lost)), "{receiver:?} {sender:?}");
    }
    let code = receiver.measured[0].code.unwrap();
    assert!(!code.repeats.is_empty() || code.share > 0.0 || code.tail_flush, "{code:?}");
}

#[test]
fn w84_nothing_is_told_while_nobody_looks_on() {
    let mut world = lossy([0, 0]);
    let before = |world: &World| world.room.stats().bytes_in_after;
    point(&mut world, 50, false);
    let unwatched = before(&world);
    point(&mut world, 250, false);
    let quiet = before(&world) - unwatched;
    world.room.set_tracing(true);
    point(&mut world, 50, true);
    assert!(transport(&mut world, 1).measured[0].received.is_some());
    let watched = before(&world);
    point(&mut world, 250, true);
    let more = (before(&world) - watched).saturating_sub(quiet);
    // Two people, each of them every two seconds: a reason, and a channel.
    assert!((100..=2 * 5 * 70).contains(&more), "{more} bytes in ten seconds");
    world.room.set_tracing(false);
    point(&mut world, 50, false);
    assert_eq!(transport(&mut world, 1).measured[0].received, None);
    let after = before(&world);
    point(&mut world, 250, false);
    let again = before(&world) - after;
    assert!(again <= quiet + quiet / 20, "{again} bytes, {quiet} before");
}

#[test]
fn w84_who_was_not_asked_is_not_heard() {
    let mut world = lossy([0, 0]);
    // The reason "hi", and channel 1: 1 judged, nothing missed.
    let told = [0x26, 12, 2, b'h', b'i', 1, 1, 0, 0, 0, 0, 9, 9, 0];
    world.inject(1, &told);
    assert_eq!(transport(&mut world, 1).reason, None);
    world.room.set_tracing(true);
    world.room.inspect(world.now);
    world.inject(1, &told);
    assert_eq!(transport(&mut world, 1).reason.as_deref(), Some("hi"));
    assert_eq!(transport(&mut world, 1).measured[0].received.as_ref().unwrap().p99, MS * 9);
    // A report about a channel that the participant has not opened.
    let strange = [0x26, 10, 0, 7, 1, 0, 0, 0, 0, 9, 9, 0];
    world.inject(1, &strange);
    assert_eq!(transport(&mut world, 1).measured[0].received, None);
    // A report with more missed messages than judged ones.
    world.inject(1, &[0x26, 10, 0, 1, 1, 2, 0, 0, 0, 9, 9, 0]);
    world.run(MS * 100);
    let is_away = |event: &Event| {
        matches!(event, Event::Away { participant: ParticipantId(2), error: Some(_) })
    };
    assert!(world.log.iter().any(is_away), "{:?}", world.log);
}
