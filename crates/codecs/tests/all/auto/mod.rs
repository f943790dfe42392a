//! The adaptive choice in simulated time: real codecs, generated messages, costs from a table.

mod link;
mod network;
mod payload;
mod random;
mod session;

use groupwire_codecs::{Auto, Choice, Costs, Link};

use network::Network;
use payload::Kind;
use random::Random;
use session::{Content, Session};

/// Messages of a run: as many as in the shortest run of the LMC paper's experiment.
const MESSAGES: usize = 5000;
/// The largest loss of time against the best fixed choice.
const LOSS: f64 = 0.02;

const SIZES: [usize; 4] = [500, 700, 1000, 1400];

#[test]
fn auto_is_as_good_as_the_best_fixed_choice() {
    for kind in Kind::ALL {
        for size in SIZES {
            let content = Content::new(kind, size);
            for mbit in [10.0, 100.0, 1000.0] {
                for hops in [1, 2] {
                    let mut session = Session::new(Network::new(mbit, hops), content.choices());
                    let over = session.compare(&[&content], MESSAGES).loss();
                    let what = format!("{kind:?} of {size} at {mbit} Mbit/s, {hops} hops");
                    assert!(over < LOSS, "{what}: {over}");
                }
            }
        }
    }
}

#[test]
fn messages_of_all_sizes_and_kinds_mixed_lose_no_more() {
    let contents: Vec<_> =
        Kind::ALL.into_iter().flat_map(|kind| SIZES.map(|size| Content::new(kind, size))).collect();
    let contents: Vec<_> = contents.iter().collect();
    for mbit in [10.0, 100.0, 1000.0] {
        let mut session = Session::new(Network::new(mbit, 1), contents[0].choices());
        let over = session.compare(&contents, MESSAGES).loss();
        assert!(over < LOSS, "{mbit} Mbit/s: {over}");
    }
}

#[test]
fn new_content_is_noticed() {
    let text = Content::new(Kind::Json, 1000);
    let noise = Content::new(Kind::Random, 1000);
    for (mbit, back) in [(10.0, 100), (100.0, 150), (1000.0, 300)] {
        let mut session = Session::new(Network::new(mbit, 1), text.choices());
        session.link = Link::of_rate((mbit * 1e6) as f32);
        session.compare(&[&text], 1000);
        // After text became noise, each candidate that could have won is tried at most once more.
        session.compare(&[&noise], 20);
        let over = session.compare(&[&noise], 500).loss();
        assert!(over < LOSS, "noise at {mbit} Mbit/s: {over}");
        session.compare(&[&noise], 3000);
        session.compare(&[&text], back);
        let over = session.compare(&[&text], 500).loss();
        assert!(over < LOSS, "text at {mbit} Mbit/s: {over}");
    }
}

#[test]
fn a_new_rate_is_noticed() {
    for size in SIZES {
        let content = Content::new(Kind::Json, size);
        for (before, after, messages) in [(1000.0, 10.0, 100), (10.0, 1000.0, 200)] {
            let mut session = Session::new(Network::new(before, 1), content.choices());
            session.compare(&[&content], 2000);
            session.network = Network::new(after, 1);
            session.compare(&[&content], messages);
            let over = session.compare(&[&content], 1000).loss();
            assert!(over < LOSS, "{size} bytes, to {after} Mbit/s: {over}");
        }
    }
}

#[test]
fn trials_keep_to_their_share() {
    for kind in Kind::ALL {
        for mbit in [10.0, 100.0, 1000.0] {
            let content = Content::new(kind, 1400);
            let mut session = Session::new(Network::new(mbit, 1), content.choices());
            let times = session.compare(&[&content], MESSAGES);
            assert!(times.trials < 0.005 * times.chosen, "{kind:?} at {mbit} Mbit/s: {times:?}");
        }
    }
}

#[test]
fn wrong_costs_are_corrected() {
    // Fast codecs three times as slow as the costs say; all codecs twice as slow; zstd twice as
    // fast.
    let truths: [fn(Choice) -> f64; 3] = [
        |choice| if [1, 3, 4].contains(&choice.codec) { 3.0 } else { 1.0 },
        |_| 2.0,
        |choice| if choice.codec == 7 { 0.5 } else { 1.0 },
    ];
    for (nth, truth) in truths.into_iter().enumerate() {
        for kind in Kind::ALL {
            for size in SIZES {
                let content = Content::new(kind, size);
                for mbit in [10.0, 100.0, 1000.0] {
                    let mut session = Session::new(Network::new(mbit, 1), content.choices());
                    (session.truth, session.is_timed) = (truth, true);
                    let over = session.compare(&[&content], MESSAGES).loss();
                    let what = format!("{nth}: {kind:?} of {size} at {mbit} Mbit/s");
                    // One percent more, for the messages before the first times are known.
                    assert!(over < LOSS + 0.01, "{what}: {over}");
                }
            }
        }
    }
}

#[test]
fn looking_for_the_rate_takes_little_time_where_only_slow_codecs_shrink() {
    for slow in [10, 9, 8] {
        for (first, most) in [(1000, 0.02), (4000, 0.006)] {
            let mut auto = Auto::new(&Auto::candidates(|_| true), &Costs::reference());
            let (mut link, mut random) = (Link::new(), Random::new(slow));
            let network = Network::new(1000.0, 1);
            let (mut total, mut extra) = (0.0, 0.0);
            for nth in 0..5000 {
                let pick = auto.choose(500, &link);
                let left = |choice: Choice| if u64::from(choice.codec) == slow { 430 } else { 501 };
                for choice in [Some(pick.choice), pick.also].into_iter().flatten() {
                    auto.learn(choice, 500, left(choice));
                }
                let bytes = left(pick.choice);
                let work = f64::from(Costs::reference().of(pick.choice).at(500));
                let also = pick
                    .also
                    .map_or(0.0, |also| Costs::reference().of(also).compress.at(500).into());
                link.heard(2 * bytes, network.exchange(bytes, &mut random));
                if nth < first {
                    total += network.one_way(bytes, &mut random) + work + also;
                    extra += work + also;
                }
            }
            assert!(extra < most * total, "codec {slow}, {first} messages: {extra} of {total}");
        }
    }
}
