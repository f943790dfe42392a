//! Contracts: receivers judge them, they change while channels are open, and receivers may ask for
//! lower rates (wire W76 to W80).

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config as ClientConfig, Event};
use groupwire_session::{
    Breach, ContractReport, ContractState, Error, Measure, Qos, Rate, Redundancy,
};

use crate::support::{Air, MS, World};

const POINTER: Qos = Qos::awareness().loss_per_mille(200).rate(10, 25);
const POINTING: ChannelId = ChannelId(0);
const DRAWING: ChannelId = ChannelId(1);

fn pointer() -> Qos {
    POINTER.deadline(MS * 100)
}

/// This many joined people, 10 ms from the server each.
fn people(count: usize) -> World {
    let mut world = World::with_tick(MS * 20);
    for _ in 0..count {
        let at = world.add();
        world.people[at].delay = MS * 10;
        world.channel(at, "pointer", pointer());
        world.channel(at, "draw", Qos::transaction().deadline(MS * 500));
    }
    world.run(MS * 500);
    world
}

/// Person 0 points for this many steps.
fn point(world: &mut World, steps: usize) {
    for step in 0..steps {
        world.send(0, POINTING, &format!("{{\"x\":{step},\"y\":{}}}", step * 2));
        world.run(MS * 40);
    }
}

fn report(world: &World, person: usize, channel: ChannelId) -> ContractReport {
    world.people[person].client.contract(channel).unwrap()
}

fn news(world: &World, person: usize, channel: ChannelId) -> Vec<ContractState> {
    let of = world.people[person].events.iter().filter_map(|event| match event {
        Event::Contract(news) if news.channel == channel => Some(news.state),
        _ => None,
    });
    of.collect()
}

fn changes(world: &World, person: usize) -> Vec<Qos> {
    let of = world.people[person].events.iter().filter_map(|event| match event {
        Event::Changed { qos, .. } => Some(*qos),
        _ => None,
    });
    of.collect()
}

#[test]
fn w76_a_contract_that_is_kept_says_so() {
    let mut world = people(2);
    point(&mut world, 300);
    let report = report(&world, 1, POINTING);
    assert_eq!(report.state, ContractState::Met);
    assert_eq!((report.total.missed, report.total.judged), (0, 300));
    assert!((225..=260).contains(&report.recent.judged), "{report:?}");
    assert!(report.rate.is_some_and(|rate| (24.0..=26.0).contains(&rate.hertz())), "{report:?}");
    let p99 = report.latency.quantile(0.99).unwrap();
    assert!((MS * 15..=MS * 60).contains(&p99), "{p99:?}");
    assert_eq!(
        report.measures,
        [Measure::Stream, Measure::RateLimited { rate: Rate::per_second(25) }]
    );
    assert_eq!(news(&world, 1, POINTING), []);
}

#[test]
fn w79_a_way_that_became_slow_is_seen_at_both_ends() {
    // First the path from the sender is slow, then the path to the receiver. No age in a packet
    // contains either delay.
    for slow in [0, 1] {
        let mut world = people(2);
        point(&mut world, 100);
        world.people[slow].delay = MS * 200;
        point(&mut world, 300);
        let report = report(&world, 1, POINTING);
        assert!(report.recent.missed > 150, "{slow}: {report:?}");
        let first = news(&world, 1, POINTING)[0].breach().unwrap();
        let Breach::Loss { target: 200, missed, .. } = first else { panic!("{first:?}") };
        assert!(missed > 200, "{slow}: {first}");
        let is_hopeless = matches!(report.state, ContractState::CannotMeet(_));
        assert!(is_hopeless, "nothing comes within 100 ms: {report:?}");
        assert_eq!(report.upstream >= 900, slow == 0, "{report:?}");
        world.people[slow].delay = MS * 10;
        point(&mut world, 600);
        assert_eq!(news(&world, 1, POINTING).last(), Some(&ContractState::Met));
    }
}

#[test]
fn w68_a_way_that_stays_slow_counts_in_the_ages_of_datagrams() {
    for slow in [0, 1] {
        let mut world = World::with_tick(MS * 20);
        for _ in 0..2 {
            let at = world.add();
            world.people[at].delay = MS * 10;
            world.people[at].air = Air::CLEAR;
            world.channel(at, "pointer", POINTER.deadline(MS * 2000));
        }
        world.run(MS * 500);
        point(&mut world, 250);
        let p50 = report(&world, 1, POINTING).latency.quantile(0.5).unwrap();
        assert!(p50 <= MS * 75, "{slow}: {p50:?}");
        world.people[slow].delay = MS * 410;
        // Long after the queue that afec sees at first has become the path.
        for seconds in [25, 25, 60, 120] {
            point(&mut world, seconds * 25);
            let p50 = report(&world, 1, POINTING).latency.quantile(0.5).unwrap();
            assert!((MS * 300..=MS * 600).contains(&p50), "{slow}, {seconds} s more: {p50:?}");
        }
    }
}

#[test]
fn jitter_does_not_make_a_contract_look_hopeless() {
    for jitter_ms in [20, 40, 60] {
        let mut world = World::with_tick(MS * 20);
        for _ in 0..2 {
            let at = world.add();
            world.people[at].delay = MS * 20;
            world.people[at].air = Air { jitter_ms, ..Air::CLEAR };
            world.channel(at, "pointer", POINTER.deadline(MS * 250));
        }
        point(&mut world, 750);
        assert_eq!(news(&world, 1, POINTING), [], "{jitter_ms}");
        let report = report(&world, 1, POINTING);
        assert!(report.recent.judged > 200 && report.recent.missed < 5, "{jitter_ms}: {report:?}");
    }
}

/// A sender and a receiver on a strict channel. `lost`: the share of their lost datagrams, in
/// percent.
fn strict(lost: [u64; 2], redundancy: Redundancy) -> World {
    let mut world = World::with_tick(MS * 20);
    let strict = Qos::awareness().aggregate().loss_per_mille(10).deadline(MS * 100);
    for lost in lost {
        let config = ClientConfig { redundancy, ..ClientConfig::new("demo") };
        let at = world.add_with(config);
        world.people[at].delay = MS * 10;
        world.people[at].air = Air { max: 1200, lost, ..Air::default() };
        world.channel(at, "path", strict);
    }
    world.run(MS * 500);
    point(&mut world, 400);
    world
}

#[test]
fn w76_what_datagrams_lose_is_missed() {
    let world = strict([20, 0], Redundancy::Off);
    let report = report(&world, 1, POINTING);
    let share = report.total.missed_per_mille();
    assert!((120..=280).contains(&share), "20 % are lost: {report:?}");
    assert!(matches!(report.state, ContractState::Missed(Breach::Loss { target: 10, .. })));
    assert!(report.upstream > 100, "the server says where: {report:?}");
    assert_eq!(report.measures, [Measure::Datagrams]);
}

#[test]
fn w76_what_was_repeated_in_time_is_not_missed() {
    let world = strict([0, 20], Redundancy::Adaptive);
    let report = report(&world, 1, POINTING);
    assert_eq!(report.state, ContractState::Met, "{report:?}");
    let is_saved = |one: &Measure| matches!(one, Measure::Repeated { saved: 40.. });
    assert!(report.measures.iter().any(is_saved), "{report:?}");
}

#[test]
fn w69_what_is_missed_from_application_to_application_is_near_what_may() {
    let mut world = World::with_tick(MS * 40);
    for _ in 0..2 {
        let at = world.add();
        world.people[at].delay = MS * 12;
        world.people[at].air = Air { max: 1200, lost: 20, ..Air::default() };
        world.channel(at, "pointer", pointer().loss_per_mille(100));
    }
    world.run(MS * 500);
    point(&mut world, 4000);
    let share = report(&world, 1, POINTING).total.missed_per_mille();
    // If each leg used only its own measurements, it would be 125.
    assert!((80..=115).contains(&share), "{share} of 100 in 1/1000");
}

#[test]
fn w80_what_cannot_be_met_is_told_to_who_has_the_bad_way() {
    for bad in [0, 1] {
        let mut lost = [0, 0];
        lost[bad] = 70;
        let world = strict(lost, Redundancy::Adaptive);
        let told = news(&world, bad, POINTING);
        let is_hopeless = |state: &ContractState| matches!(state, ContractState::CannotMeet(_));
        assert!(told.iter().any(is_hopeless), "{bad}: {told:?}");
    }
}

#[test]
fn w76_transactions_are_late_but_never_missing() {
    let mut world = people(2);
    for nth in 0..30 {
        world.send(0, DRAWING, &nth.to_string());
        world.run(MS * 50);
    }
    assert_eq!(report(&world, 1, DRAWING).state, ContractState::Met);
    world.people[1].delay = MS * 700;
    for nth in 0..60 {
        world.send(0, DRAWING, &nth.to_string());
        world.run(MS * 50);
    }
    world.run(MS * 4000);
    let report = report(&world, 1, DRAWING);
    assert_eq!((report.total.judged, report.total.missed), (90, report.total.late));
    assert!(report.total.late >= 55, "{report:?}");
    assert!(report.state != ContractState::Met);
}

#[test]
fn w77_a_changed_qos_holds_for_everybody() {
    let mut world = people(3);
    let talking = POINTER.loss_per_mille(100).deadline(MS * 100).rate(20, 50);
    world.people[1].client.set_qos(POINTING, talking).unwrap();
    world.run(MS * 200);
    for at in 0..3 {
        assert_eq!(changes(&world, at), [talking]);
        assert_eq!(world.people[at].client.describe(POINTING).unwrap().1, &talking);
    }
    // The sender sends at the new rate.
    let before = world.people[2].texts(POINTING).len();
    for step in 0..200 {
        world.send(0, POINTING, &step.to_string());
        world.run(MS * 10);
    }
    let came = world.people[2].texts(POINTING).len() - before;
    assert!((95..=105).contains(&came), "{came} in 2 s at 50/s");
    // A later joiner gets the present QoS, not the one that it asked for.
    let late = world.add();
    world.channel(late, "pointer", pointer());
    world.run(MS * 500);
    assert_eq!(world.people[late].client.describe(POINTING).unwrap().1, &talking);
}

#[test]
fn w77_a_change_outlives_a_transport_that_breaks() {
    let mut world = people(2);
    world.cut(0);
    world.people[0].client.set_qos(POINTING, pointer().priority(9)).unwrap();
    world.run(MS * 5000);
    assert_eq!(changes(&world, 1), [pointer().priority(9)]);
    assert_eq!(changes(&world, 0), [pointer().priority(9)]);
    // The change was answered: another break does not bring it back.
    world.people[1].client.set_qos(POINTING, pointer()).unwrap();
    world.run(MS * 500);
    world.cut(0);
    world.run(MS * 5000);
    assert_eq!(world.people[0].client.describe(POINTING).unwrap().1, &pointer());
}

#[test]
fn w77_kinds_stay() {
    let mut world = people(2);
    for other in [pointer().aggregate(), Qos::transaction(), pointer().private()] {
        let refused = world.people[0].client.set_qos(POINTING, other);
        assert!(matches!(refused, Err(Error::InvalidQos { .. })), "{other:?}");
    }
    // CHANGE of channel 1 to a transaction, from a client that does not check.
    world.inject(0, &[0x20, 9, 1, 0, 1, 128, 0, 0, 0, 0, 0]);
    world.run(MS * 200);
    let is_refused = |event: &Event| {
        matches!(event, Event::Error { error, fatal: false, channel: Some(POINTING) }
            if error.name() == "not-changed")
    };
    assert!(world.people[0].saw(is_refused), "{:?}", world.people[0].events);
    assert!(changes(&world, 1).is_empty());
}

#[test]
fn w78_a_receiver_gets_as_few_as_it_asks_for_and_always_the_last() {
    for max in [0, 1200] {
        let mut world = people(3);
        world.change_transport(1, Air { max, ..Air::default() });
        world.run(MS * 500);
        world.people[1].client.limit_rate(POINTING, Some(Rate::per_second(5))).unwrap();
        world.run(MS * 200);
        point(&mut world, 50);
        world.send(0, POINTING, "last");
        world.run(MS * 1000);
        let came = |at: usize| world.people[at].texts(POINTING);
        assert!((9..=14).contains(&came(1).len()), "{} in 2 s at 5/s, {max}", came(1).len());
        assert!(came(2).len() >= 50, "nobody else gets fewer");
        assert_eq!(came(1).last().map(String::as_str), Some("last"));
        let report = report(&world, 1, POINTING);
        assert_eq!((report.total.missed, report.state), (0, ContractState::Met), "as it asked");
        assert!(report.measures.contains(&Measure::Downsampled { rate: Rate::per_second(5) }));
    }
}

#[test]
fn w78_each_key_has_its_newest_value_at_a_slot() {
    let mut world = people(2);
    world.people[1].client.limit_rate(POINTING, Some(Rate::per_second(1))).unwrap();
    world.run(MS * 500);
    for step in 0..100 {
        for key in ["a", "b", "c"] {
            world.send_key(0, POINTING, key, &format!("{key}{step}"));
        }
        world.run(MS * 40);
    }
    world.run(MS * 1100);
    let texts = world.people[1].texts(POINTING);
    assert!((12..=18).contains(&texts.len()), "{texts:?}");
    for last in ["a99", "b99", "c99"] {
        assert!(texts.contains(&last.to_owned()), "{texts:?}");
    }
}

#[test]
fn w78_the_wish_outlives_a_transport_and_ends_when_it_is_taken_back() {
    let mut world = people(2);
    world.people[1].client.limit_rate(POINTING, Some(Rate::per_second(2))).unwrap();
    world.run(MS * 100);
    world.cut(1);
    world.run(MS * 5000);
    point(&mut world, 50);
    let few = world.people[1].texts(POINTING).len();
    assert!(few <= 7, "{few} in 2 s at 2/s");
    world.send(0, POINTING, "newest");
    world.run(MS * 100);
    world.people[1].client.limit_rate(POINTING, None).unwrap();
    world.run(MS * 100);
    assert_eq!(world.people[1].texts(POINTING).last().map(String::as_str), Some("newest"));
    point(&mut world, 50);
    assert!(world.people[1].texts(POINTING).len() >= few + 49);
}

#[test]
fn w78_only_channels_that_conflate_are_thinned() {
    let mut world = people(2);
    assert!(world.people[1].client.limit_rate(DRAWING, Some(Rate::from_millihertz(1))).is_err());
    // RATE for channel 2, which carries transactions, although the client refuses to send it.
    world.inject(1, &[0x21, 2, 2, 1]);
    for nth in 0..20 {
        world.send(0, DRAWING, &nth.to_string());
    }
    world.run(Duration::from_secs(1));
    assert_eq!(world.people[1].texts(DRAWING).len(), 20);
}

#[test]
fn a_minimum_rate_that_a_narrow_link_cannot_hold_is_told() {
    let mut world = people(2);
    // Three or four packets per second of some 12 bytes.
    world.people[1].per_byte = MS * 20;
    let patient = pointer().deadline(Duration::from_secs(4));
    world.people[0].client.set_qos(POINTING, patient).unwrap();
    world.run(MS * 2000);
    point(&mut world, 300);
    let told = news(&world, 1, POINTING);
    let is_slow = |state: &ContractState| {
        let ten = Rate::per_second(10);
        matches!(state.breach(), Some(Breach::Rate { target, rate }) if target == ten && rate < Rate::per_second(9))
    };
    assert!(told.iter().any(is_slow), "{told:?}, {:?}", report(&world, 1, POINTING));
}
