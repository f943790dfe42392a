//! Learning a link's rate from exchanges of packets.

use std::time::Duration;

use groupwire_codecs::Link;

use super::network::Network;
use super::random::Random;

/// Adds exchanges of packets of 200 to 1400 bytes to `link`.
fn hear(link: &mut Link, network: Network, exchanges: usize, random: &mut Random) {
    for _ in 0..exchanges {
        let bytes = 200 + random.below(1200) as usize;
        link.heard(2 * bytes, network.exchange(bytes, random));
    }
}

/// The relative error of the link's rate; `None` while the rate is unknown.
fn relative_error(link: &Link, network: Network) -> Option<f64> {
    let right = network.nanos_per_byte();
    link.nanos_per_byte().map(|nanos| (f64::from(nanos) / right - 1.0).abs())
}

#[test]
fn a_fast_link_is_known_within_a_quarter_after_500_exchanges() {
    for seed in 0..200 {
        for hops in [1, 2] {
            let (mut link, network) = (Link::new(), Network::new(1000.0, hops));
            hear(&mut link, network, 500, &mut Random::new(seed));
            let relative_error = relative_error(&link, network);
            assert!(
                relative_error.is_some_and(|relative_error| relative_error < 0.25),
                "seed {seed}, {hops} hops: {relative_error:?}"
            );
        }
    }
}

#[test]
fn a_slow_link_is_known_after_20_exchanges() {
    for seed in 0..200 {
        for (mbit, most) in [(10.0, 0.1), (100.0, 0.25)] {
            let (mut link, network) = (Link::new(), Network::new(mbit, 1));
            hear(&mut link, network, 20, &mut Random::new(seed));
            let relative_error = relative_error(&link, network);
            assert!(
                relative_error.is_some_and(|relative_error| relative_error < most),
                "seed {seed}, {mbit} Mbit/s: {relative_error:?}"
            );
        }
    }
}

#[test]
fn another_rate_is_known_after_40_exchanges() {
    for seed in 0..100 {
        for (before, after) in [(1000.0, 10.0), (10.0, 1000.0)] {
            let (mut link, mut random) = (Link::new(), Random::new(seed));
            hear(&mut link, Network::new(before, 1), 600, &mut random);
            let network = Network::new(after, 1);
            hear(&mut link, network, 40, &mut random);
            let relative_error = relative_error(&link, network);
            assert!(
                relative_error.is_some_and(|relative_error| relative_error < 0.6),
                "seed {seed}, to {after} Mbit/s: {relative_error:?}"
            );
        }
    }
}

#[test]
fn a_longer_path_is_no_slower_link() {
    let (mut link, mut random) = (Link::new(), Random::new(5));
    let network = Network::new(100.0, 1);
    hear(&mut link, network, 300, &mut random);
    for _ in 0..300 {
        let bytes = 200 + random.below(1200) as usize;
        let longer = network.exchange(bytes, &mut random) + Duration::from_millis(40);
        link.heard(2 * bytes, longer);
        let relative_error = relative_error(&link, network);
        assert!(
            relative_error.is_some_and(|relative_error| relative_error < 0.25),
            "{relative_error:?}"
        );
    }
}

#[test]
fn equal_sizes_show_no_rate() {
    let (mut link, mut random) = (Link::new(), Random::new(5));
    for _ in 0..1000 {
        link.heard(1000, Network::new(10.0, 1).exchange(500, &mut random));
        assert_eq!(link.nanos_per_byte(), None);
    }
}

#[test]
fn a_given_rate_stays() {
    let mut link = Link::of_rate(10e6);
    hear(&mut link, Network::new(1000.0, 1), 100, &mut Random::new(1));
    assert_eq!(link.nanos_per_byte(), Some(800.0));
}

#[test]
fn impossible_exchanges_do_no_harm() {
    let mut link = Link::new();
    let mut random = Random::new(8);
    for _ in 0..3000 {
        let bytes = [0, 1, 100, usize::MAX][random.below(4) as usize];
        let time = [Duration::ZERO, Duration::from_micros(9), Duration::MAX];
        link.heard(bytes, time[random.below(3) as usize]);
        assert!(link.nanos_per_byte().is_none_or(|nanos| nanos >= 0.0));
    }
}
