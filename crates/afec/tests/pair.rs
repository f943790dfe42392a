//! Two endpoints with a bad path between them.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use groupwire_afec::code::{Code, Repeats};
use groupwire_afec::{Afec2012, Config, Order, Scheme};
use proptest::prelude::*;
use support::{Weather, World, pointer};

fn fixed(code: Code) -> Config {
    Config { scheme: Scheme::Fixed(code), ..Config::default() }
}

#[test]
fn without_loss_nothing_is_repeated_and_little_is_reported() {
    let mut world = World::new(Config::default(), Weather::losing(0.0), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 2000);
    assert_eq!(world.came.len(), 2000);
    assert_eq!(world.sent[0].0, 2000);
    assert!(world.sent[1].1 * 100 < world.sent[0].1 * 2, "{:?}", world.sent);
    let oldest = world.came.iter().map(|came| came.true_age).max().expect("some came");
    assert!(oldest < Duration::from_millis(27));
}

#[test]
fn plain_datagrams_miss_what_the_path_loses() {
    let mut world = World::new(fixed(Code::PLAIN), Weather::losing(0.2), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 4000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!((0.17..0.23).contains(&stats.mer()), "{}", stats.mer());
    assert_eq!(world.sent[1].0, 0, "nobody needs a report");
}

#[test]
fn fec_3_of_the_paper_misses_what_is_lost_four_times_running() {
    let code = Code { repeats: Repeats::repeat_last(3), close: true, ..Code::PLAIN };
    let mut world = World::new(fixed(code), Weather::losing(0.2), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 8000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!(stats.mer() < 0.005, "{}", stats.mer());
    assert!(stats.recovered > 1000);
}

#[test]
fn asking_alone_meets_a_target_on_a_short_path() {
    let code = Code { ask: 1, ..Code::PLAIN };
    let mut world = World::new(fixed(code), Weather::losing(0.1), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 8000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!((0.035..0.056).contains(&stats.mer()), "{}", stats.mer());
    assert!(stats.asked < 800, "the target permits to lose half: {stats:?}");
}

#[test]
fn the_papers_controller_holds_its_band() {
    let scheme = Scheme::Afec2012(Afec2012::default());
    let mut world = World::new(Config { scheme, ..Config::default() }, Weather::losing(0.2), 1);
    world.open(3, pointer(Order::AsTheyCome));
    world.point(3, 20_000);
    let stats = world.ends[1].received(3).expect("the channel is open");
    assert!((0.03..0.08).contains(&stats.mer()), "{}", stats.mer());
}

#[test]
fn what_the_receiver_counts_is_what_happened() {
    for (seed, scheme) in [Scheme::Adaptive, Scheme::Fixed(Code::PLAIN)].into_iter().enumerate() {
        let mut world =
            World::new(Config { scheme, ..Config::default() }, Weather::losing(0.2), seed as u64);
        world.open(3, pointer(Order::AsTheyCome));
        world.point(3, 3000);
        let stats = *world.ends[1].received(3).expect("the channel is open");
        let missed = 3000 - world.came.len() as u64;
        assert!(stats.missed.abs_diff(missed) <= 8, "{scheme:?}: {stats:?}, in truth {missed}");
        for came in &world.came {
            assert!(came.true_age < came.age + Duration::from_millis(60), "{came:?}");
        }
    }
}

fn weather() -> impl Strategy<Value = Weather> {
    (0.0..0.5f64, 1u64..100, 0.0..0.3f64, 0.0..0.2f64, 0.0..0.1f64).prop_map(
        |(loss, delay, reorder, duplicate, corrupt)| Weather {
            loss,
            delay: Duration::from_millis(delay),
            reorder,
            duplicate,
            corrupt,
        },
    )
}

fn any_code() -> impl Strategy<Value = Code> {
    (0u8..8, 0u8..4, any::<bool>()).prop_map(|(repeat, ask, close)| Code {
        repeats: Repeats::repeat_last(repeat),
        ask,
        close,
        ..Code::PLAIN
    })
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        Just(Scheme::Adaptive),
        any_code().prop_map(Scheme::Fixed),
        Just(Scheme::Afec2012(Afec2012::default())),
    ]
}

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::AsTheyCome), Just(Order::InOrder), Just(Order::Newest)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the path does: no message comes twice, none after its deadline, order holds, memory stays small.
    #[test]
    fn nothing_comes_twice_late_or_out_of_order(
        weather in weather(),
        scheme in any_scheme(),
        order in any_order(),
        seed in any::<u64>(),
    ) {
        let mut world = World::new(Config { scheme, ..Config::default() }, weather, seed);
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
        let mut last = [None; 2];
        for came in world.came.iter().filter(|_| weather.corrupt == 0.0) {
            prop_assert!(seen.insert((came.end, came.channel, came.index)), "twice: {came:?}");
            prop_assert!(came.age <= Duration::from_millis(251), "late: {came:?}");
            if came.channel == 3 && order == Order::InOrder {
                prop_assert!(last[came.end].is_none_or(|last| last < came.index), "order: {came:?}");
                last[came.end] = Some(came.index);
            }
        }
        for end in &world.ends {
            prop_assert!(end.memory() < 3 * 16 * 1024, "{}", end.memory());
        }
    }
}
