use std::vec::Vec;

use super::*;
use crate::loss::{LAGS, LossModel};

const MS: Duration = Duration::from_millis(1);

/// The losses of a path that loses a fifth of its packets, where a packet after a lost one is lost
/// with the probability `again`.
fn lossy(again: f64) -> Losses {
    Losses::new(&LossModel { rate: 0.2, again: [again; LAGS], weight: 1e3 })
}

/// Sends value `index` of a key, in a packet with the same number.
fn send(values: &mut Values, now: Duration, key: u32, index: u32, until: Duration) {
    values.sent(now, PacketNumber(index), (Key(key), MessageIndex(index)), until);
}

/// Sends `count` values, one every `interval` ms, whose repeats are useful for `useful` ms. Returns
/// for each repeat the index of the value, and the ms since the newest value was sent.
fn repeats(values: &mut Values, count: u32, interval: u32, useful: u32) -> Vec<(u32, u32)> {
    let mut repeats = Vec::new();
    let mut now = 0;
    for index in 0..count {
        let at = MS * now;
        send(values, at, 7, index, at + MS * useful);
        for later in now + 1..=now + interval {
            values.take(MS * later, false, |which| {
                repeats.push((which.0, later - now));
                true
            });
        }
        now += interval;
    }
    repeats
}

#[test]
fn a_value_that_a_newer_one_follows_in_time_is_not_repeated() {
    let mut values = Values { sendings: 2.0, ..Values::default() };
    assert!(repeats(&mut values, 200, 40, 50).is_empty());
    assert!(values.need(&lossy(0.2), 0.09, 0.05, 0.18).sendings < 1.1, "{values:?}");
}

#[test]
fn a_value_that_no_newer_one_follows_is_repeated_at_the_last_moment() {
    let mut values = Values { sendings: 2.0, ..Values::default() };
    let found = repeats(&mut values, 20, 100, 30);
    assert_eq!(found, (0..20).map(|index| (index, 30)).collect::<Vec<_>>());
    let mut values = Values { sendings: 3.0, ..Values::default() };
    let found = repeats(&mut values, 2, 100, 30);
    assert_eq!(found, [(0, 15), (0, 30), (1, 15), (1, 30)]);
}

#[test]
fn a_repeat_piggybacks_but_not_at_once() {
    let mut values = Values { sendings: 2.0, ..Values::default() };
    send(&mut values, Duration::ZERO, 7, 0, MS * 40);
    let mut repeats = Vec::new();
    for now in [5, 12, 13, 40] {
        values.take(MS * now, true, |_| {
            repeats.push(now);
            true
        });
    }
    assert_eq!(repeats, [12]);
}

#[test]
fn two_values_in_a_packet_are_one_sending_and_the_newer_one_is_repeated() {
    let mut values = Values { sendings: 2.0, ..Values::default() };
    send(&mut values, Duration::ZERO, 7, 0, MS * 40);
    values.sent(Duration::ZERO, PacketNumber(0), (Key(7), MessageIndex(1)), MS * 45);
    let mut repeats = Vec::new();
    for now in 1..60 {
        values.take(MS * now, false, |index| {
            repeats.push((index.0, now));
            true
        });
    }
    assert_eq!(repeats, [(1, 45)]);
}

#[test]
fn a_fraction_of_a_sending_alternates_between_packets() {
    let mut values = Values { sendings: 1.3, ..Values::default() };
    let count = repeats(&mut values, 1000, 100, 30).len();
    assert!((290..310).contains(&count), "{count}");
}

#[test]
fn a_settled_value_is_repeated_the_chosen_number_of_times() {
    let mut values = Values { settled_repeats: 2, ..Values::default() };
    assert!(repeats(&mut values, 100, 33, 400).is_empty());
    let at = MS * 3300;
    send(&mut values, at, 7, 100, at + MS * 400);
    let mut repeats = Vec::new();
    for later in 1..400 {
        values.take(at + MS * later, false, |_| {
            repeats.push(later);
            true
        });
    }
    assert_eq!(repeats.len(), 2, "{repeats:?}");
    assert!((40..60).contains(&repeats[0]), "{repeats:?}");
}

#[test]
fn a_minimum_rate_needs_more_than_newer_values() {
    let mut values = Values::default();
    repeats(&mut values, 200, 40, 50);
    assert_eq!(values.resend_with_next_for(&lossy(0.2), 10.0), 0.0);
    assert!(values.resend_with_next_for(&lossy(0.2), 24.9) > 0.3);
    let none = Losses::new(&LossModel::default());
    assert_eq!(values.resend_with_next_for(&none, 24.9), 0.0);
}

#[test]
fn a_value_resent_with_the_next_one_needs_no_packet() {
    let repeats = |share: f64, useful: u32| {
        let mut values = Values { resend_with_next: share, ..Values::default() };
        let mut repeats = 0;
        for index in 0..1000 {
            let now = MS * 40 * index;
            send(&mut values, now, 7, index, now + MS * useful);
            assert_eq!(values.next(), None);
            values.take(now, true, |which| {
                assert_eq!(which.0 + 1, index);
                repeats += 1;
                true
            });
        }
        repeats
    };
    assert!((290..310).contains(&repeats(0.3, 50)));
    assert_eq!(repeats(1.0, 50), 999);
    assert_eq!(repeats(1.0, 30), 0);
}

#[test]
fn a_target_out_of_reach_is_worth_a_limited_number_of_sendings() {
    let values = Values::default();
    let need = values.need(&lossy(0.2), 0.01, 0.0, 0.02);
    assert!(need.sendings > 2.0 && need.misses <= 0.01, "{need:?}");
    let need = values.need(&lossy(0.9), 0.01, 0.05, 0.02);
    assert_eq!(need.sendings, 1.0, "{need:?}");
    assert!(need.possible > 0.1);
}

#[test]
fn many_keys_take_bounded_memory() {
    let mut values = Values { sendings: 2.0, ..Values::default() };
    for index in 0..10_000 {
        let now = MS * index;
        send(&mut values, now, index, index, now + MS * 1000);
    }
    assert!(values.memory() < 8 * 1024, "{}", values.memory());
}
