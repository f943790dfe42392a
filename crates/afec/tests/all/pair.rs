//! Two endpoints with a lossy path between them.

use std::collections::BTreeSet;
use std::time::Duration;

use groupwire_afec::code::{Code, Repeats};
use groupwire_afec::{ChannelId, Config, Notice, Order, Qos, Scheme};
use groupwire_sim::{Capacity, LinkConfig, Loss, Queue};
use proptest::prelude::*;

use crate::support::{World, losing, pointer};

fn fixed(code: Code) -> Config {
    Config { scheme: Scheme::Fixed(code), ..Config::default() }
}

#[test]
fn without_losses_nothing_is_repeated_and_few_reports_are_sent() {
    let mut world = World::new(Config::default(), &losing(0.0), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 2000);
    assert_eq!(world.delivered.len(), 2000);
    assert_eq!(world.sent[0].0, 2000);
    assert!(world.sent[1].1 * 100 < world.sent[0].1 * 2, "{:?}", world.sent);
    let oldest = world
        .delivered
        .iter()
        .map(|message| message.true_age)
        .max()
        .expect("messages were delivered");
    assert!(oldest < Duration::from_millis(27));
}

#[test]
fn plain_datagrams_miss_the_messages_that_the_path_loses() {
    let mut world = World::new(fixed(Code::PLAIN), &losing(0.2), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 4000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!((0.17..0.23).contains(&stats.mer()), "{}", stats.mer());
    assert_eq!(world.sent[1].0, 0, "plain datagrams need no report");
}

#[test]
fn three_repeats_miss_messages_that_are_lost_four_times() {
    let code = Code { repeats: Repeats::repeat_last(3), tail_flush: true, ..Code::PLAIN };
    let mut world = World::new(fixed(code), &losing(0.2), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 8000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!(stats.mer() < 0.005, "{}", stats.mer());
    assert!(stats.recovered > 1000);
}

#[test]
fn requests_alone_meet_a_target_on_a_short_path() {
    let code = Code { answers: 1, ..Code::PLAIN };
    let mut world = World::new(fixed(code), &losing(0.1), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 8000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!((0.035..0.056).contains(&stats.mer()), "{}", stats.mer());
    assert!(stats.asked < 800, "the target permits to lose half: {stats:?}");
}

#[test]
fn frames_of_sound_share_packets_on_a_path_that_carries_too_few() {
    // Each in a packet of its own, they need 22 kbit/s.
    let path = LinkConfig {
        delay: Duration::from_millis(25),
        capacity: Capacity::kbit(18.0),
        queue: Queue::Time(Duration::from_millis(300)),
        ..LinkConfig::default()
    };
    let mut world = World::new(Config::default(), &path, 1);
    let deadline = Duration::from_millis(180);
    world.open(3, Qos { target: 0.01, deadline, dense: true, ..Qos::new() });
    for _ in 0..3000 {
        world.send(0, 3, 0);
        world.run(world.now + Duration::from_millis(20));
    }
    let in_time = world.delivered.iter().filter(|one| one.true_age <= deadline).count();
    assert!(in_time > 2700, "{in_time} of 3000 in {} packets", world.sent[0].0);
}

#[test]
fn the_receiver_counts_the_messages_that_really_missed() {
    for (seed, scheme) in [Scheme::Adaptive, Scheme::Fixed(Code::PLAIN)].into_iter().enumerate() {
        let mut world =
            World::new(Config { scheme, ..Config::default() }, &losing(0.2), seed as u64);
        world.open(3, pointer(Order::AsTheyCome));
        world.point(3, 3000);
        let stats = *world.ends[1].received(3).expect("the channel is open");
        let missed = 3000 - world.delivered.len() as u64;
        assert!(stats.missed.abs_diff(missed) <= 8, "{scheme:?}: {stats:?}, in truth {missed}");
        for message in &world.delivered {
            assert!(message.true_age < message.age + Duration::from_millis(60), "{message:?}");
        }
    }
}

#[test]
fn on_a_conflated_channel_only_the_last_value_of_a_cluster_is_repeated() {
    let mut world = World::new(Config::default(), &losing(0.2), 1);
    world.open(3, pointer(Order::Newest));
    world.point(3, 12_000);
    let last = |index: u32| index % 40 == 39 && index >= 400;
    let came = world.delivered.iter().filter(|message| last(message.index)).count();
    assert!(came >= 290 * 93 / 100, "{came} of 290");
    let (sent, _) = world.ends[0].sent(3).expect("the channel is open");
    assert!(sent.repeats < 900, "about two for each of 300: {sent:?}");
    assert!(world.ends[1].received(3).expect("the channel is open").mer() < 0.02);
}

#[test]
fn an_application_is_told_what_cannot_be_met() {
    let mut world = World::new(Config::default(), &losing(0.4), 1);
    // 30 ms remain after the delay of the path: only dedicated packets are in time.
    world.open(3, Qos { target: 0.001, deadline: Duration::from_millis(55), ..Qos::new() });
    world.point(3, 2000);
    let notice = world.ends[0].notice().expect("there is a notice");
    let Notice::CannotMeet { channel: ChannelId(3), target, expected } = notice else {
        panic!("{notice:?}");
    };
    assert!(target == 0.001 && expected > 0.001, "{notice:?}");
}

/// A path of a mobile network: 300 ms, and up to 40 ms longer, with some losses.
fn mobile() -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(300),
        jitter: Duration::from_millis(40),
        ..losing(0.02)
    }
}

#[test]
fn a_path_that_is_longer_than_the_deadline_is_told_within_three_seconds() {
    for (seed, order) in (0..10).flat_map(|seed| [(seed, Order::Newest), (seed, Order::AsTheyCome)])
    {
        let mut world = World::new(Config::default(), &mobile(), seed);
        world.open(3, Qos { deadline: Duration::from_millis(250), target: 0.2, ..pointer(order) });
        // A channel on which nothing was sent yet is told, too.
        world.open(4, Qos { deadline: Duration::from_millis(250), target: 0.2, ..pointer(order) });
        world.point(3, 60);
        assert!(world.now < Duration::from_secs(3));
        let mut told: Vec<_> = std::iter::from_fn(|| world.ends[0].notice()).collect();
        told.sort_by_key(|notice| format!("{notice:?}"));
        assert!(
            matches!(
                told[..],
                [
                    Notice::CannotMeet { channel: ChannelId(3), .. },
                    Notice::CannotMeet { channel: ChannelId(4), expected: 1.0, .. }
                ]
            ),
            "{seed} {order:?}: {told:?}"
        );
    }
}

#[test]
fn queues_on_a_path_that_is_short_enough_are_not_told() {
    for seed in 0..10 {
        let mut world = World::new(Config::default(), &mobile(), seed);
        world.open(
            3,
            Qos { deadline: Duration::from_millis(400), target: 0.2, ..pointer(Order::Newest) },
        );
        world.point(3, 400);
        // The delay is twice as long for some seconds.
        world.change_path(&LinkConfig { delay: Duration::from_millis(600), ..mobile() });
        world.point(3, 100);
        world.change_path(&mobile());
        world.point(3, 400);
        assert_eq!(world.ends[0].notice(), None, "{seed}");
    }
}

#[test]
fn an_application_is_told_that_repeats_do_not_fit() {
    let code = Code { repeats: Repeats::repeat_last(7), ..Code::PLAIN };
    let config = Config { mtu: 100, ..fixed(code) };
    let mut world = World::new(config, &losing(0.0), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 100);
    assert_eq!(world.ends[0].notice(), Some(Notice::Overloaded { channel: ChannelId(3) }));
    assert_eq!(world.delivered.len(), 100);
}

#[test]
fn what_is_missing_of_a_dense_channel_is_always_requested() {
    // The second path loses fewer messages than the target permits to miss.
    for loss in [0.05, 0.03] {
        let misses = [false, true].map(|dense| {
            let mut world = World::new(Config::default(), &losing(loss), 1);
            world.open(3, Qos { target: 0.04, dense, ..Qos::new() });
            world.point(3, 2000);
            world.ends[1].received(3).expect("the channel is open").mer()
        });
        let [usual, dense] = misses;
        assert!((0.02..0.04).contains(&usual), "most of what may miss does: {misses:?}");
        assert!(dense < usual / 4.0, "{misses:?}");
    }
}

#[test]
fn a_message_of_a_dense_channel_is_requested_twice_and_answered_once() {
    let code = Code { answers: 1, ..Code::PLAIN };
    let counts = [false, true].map(|dense| {
        let mut world = World::new(fixed(code), &losing(0.1), 1);
        // Nothing may miss, so that both channels request all that is missing.
        world.open(3, Qos { target: 0.0, dense, ..Qos::new() });
        world.point(3, 4000);
        let asked = world.ends[1].received(3).expect("the channel is open").asked as f64;
        let (sent, _) = world.ends[0].sent(3).expect("the channel is open");
        (asked, sent.answers as f64, world.ends[1].received(3).expect("it is").mer())
    });
    let [(asked, answers, misses), (asked_twice, answers_to_both, fewer)] = counts;
    assert!(asked_twice > 1.6 * asked, "{counts:?}");
    // Requests whose first copy is lost are answered, too.
    assert!((1.0..1.2).contains(&(answers_to_both / answers)), "{counts:?}");
    assert!(fewer < misses, "{counts:?}");
}

fn any_path() -> impl Strategy<Value = LinkConfig> {
    (0.0..50.0f64, 1u64..100, 0.0..0.3f64, 0.0..0.2f64, 0.0..0.1f64).prop_map(
        |(percent, delay, reorder, duplicate, corrupt)| LinkConfig {
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(1),
            reorder,
            reorder_by: Duration::from_millis(80),
            duplicate,
            corrupt,
            loss: Loss::Random { percent },
            ..LinkConfig::default()
        },
    )
}

fn any_code() -> impl Strategy<Value = Code> {
    (0u8..8, 0u8..4, any::<bool>()).prop_map(|(repeat, answers, tail_flush)| Code {
        repeats: Repeats::repeat_last(repeat),
        answers,
        tail_flush,
        ..Code::PLAIN
    })
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![Just(Scheme::Adaptive), any_code().prop_map(Scheme::Fixed),]
}

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::AsTheyCome), Just(Order::Newest)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// On any path no message is delivered twice or after its deadline, and memory stays small.
    #[test]
    fn no_message_comes_twice_or_late(
        path in any_path(),
        scheme in any_scheme(),
        order in any_order(),
        seed in any::<u64>(),
    ) {
        let mut world = World::new(Config { scheme, ..Config::default() }, &path, seed);
        world.open(3, pointer(order));
        world.open(9, pointer(Order::AsTheyCome));
        for nth in 0..300u32 {
            world.send((nth % 7 == 0).into(), 3, nth % 3);
            if nth % 5 == 0 {
                world.send(1, 9, 0);
            }
            let gap = if nth % 41 == 0 { 900 } else { 33 };
            world.run(world.now + Duration::from_millis(gap));
        }
        world.run(world.now + Duration::from_secs(2));
        let mut seen = BTreeSet::new();
        for message in world.delivered.iter().filter(|_| path.corrupt == 0.0) {
            prop_assert!(seen.insert((message.end, message.channel, message.index)), "twice: {message:?}");
            prop_assert!(message.age <= Duration::from_millis(251), "late: {message:?}");
        }
        for end in &world.ends {
            prop_assert!(end.memory() < 3 * 16 * 1024, "{}", end.memory());
        }
    }
}
