//! The playout buffer, with random arrivals and with realistic ones.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::time::Duration;

use groupwire_afec::playout::{
    Delay, FALL, HORIZON, Late, Played, Playout, PlayoutConfig, PlayoutStats, RISE, Timing,
};
use oorandom::Rand32;
use proptest::prelude::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn adaptive(quantile: f64, min: u64, max: u64) -> Delay {
    Delay::Adaptive { quantile, min: ms(min), max: ms(max) }
}

#[derive(Debug, Clone)]
enum Step {
    /// A message that comes after a number of µs: its age in µs, and its bytes.
    Push(u64, i64, usize),
    Pop(u64),
    /// At the time when a message is due.
    PopNext,
}

fn step() -> impl Strategy<Value = Step> {
    let age = prop_oneof![
        8 => 0..200_000_i64,
        // An origin in the future, and one that is older than any path makes it.
        1 => -100_000..0_i64,
        1 => Just(i64::MIN),
        1 => 0..100_000_000_i64,
        1 => Just(i64::MAX),
    ];
    prop_oneof![
        4 => (0..40_000_u64, age, 0..200_usize).prop_map(|(after, age, bytes)| Step::Push(after, age, bytes)),
        1 => (0..300_000_u64).prop_map(Step::Pop),
        4 => Just(Step::PopNext),
    ]
}

fn config() -> impl Strategy<Value = PlayoutConfig> {
    let delay = prop_oneof![
        (0..300_u64).prop_map(|delay| Delay::Fixed(ms(delay))),
        (0.0..=1.0_f64, 0..100_u64, 0..300_u64)
            .prop_map(|(quantile, min, max)| adaptive(quantile, min, max)),
    ];
    let late = prop_oneof![Just(Late::Play), Just(Late::Drop)];
    (delay, late, 0..20_usize, 0..2000_usize).prop_map(|(delay, late, max_items, max_bytes)| {
        PlayoutConfig { delay, late, max_items, max_bytes }
    })
}

/// Checks the promises of the buffer from outside.
struct Checked {
    config: PlayoutConfig,
    playout: Playout<u64>,
    now: Duration,
    pushed: u64,
    /// The messages by item.
    arrivals: Vec<Duration>,
    is_out: Vec<bool>,
    played: [u64; 3],
    newest: Duration,
    before: Option<(Duration, PlayoutStats)>,
}

impl Checked {
    fn new(config: PlayoutConfig) -> Self {
        Checked {
            config,
            playout: Playout::new(config),
            now: ms(1000),
            pushed: 0,
            arrivals: Vec::new(),
            is_out: Vec::new(),
            played: [0; 3],
            newest: Duration::ZERO,
            before: None,
        }
    }

    fn bounds(&self) -> (Duration, Duration) {
        match self.config.delay {
            Delay::Fixed(delay) => (delay, delay),
            Delay::Adaptive { min, max, .. } => (min.min(max), max),
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Push(after, age, bytes) => {
                self.now += Duration::from_micros(after);
                let ago = Duration::from_micros(age.unsigned_abs());
                let origin = match age {
                    0.. => self.now.saturating_sub(ago),
                    _ => self.now.saturating_add(ago),
                };
                self.arrivals.push(self.now);
                self.is_out.push(false);
                let early = self.playout.push(self.now, 7, origin, bytes, self.pushed);
                self.pushed += 1;
                early.iter().for_each(|played| self.see(played, true));
            }
            Step::Pop(after) => {
                self.now += Duration::from_micros(after);
                self.pop_all();
            }
            Step::PopNext => {
                let Some(next) = self.playout.next() else { return };
                assert_eq!(
                    self.playout.clone().pop(next - Duration::from_nanos(4)).is_some(),
                    next <= self.now
                );
                let (_, max) = self.bounds();
                let before = self.now;
                self.now = before.max(next);
                let played = self.playout.pop(self.now).expect("something is due");
                let arrival = self.arrivals[played.item as usize];
                assert!(
                    next <= before.max(arrival + max),
                    "it waits longer than the greatest delay"
                );
                self.see(&played, false);
                self.pop_all();
            }
        }
        self.look();
    }

    fn pop_all(&mut self) {
        while let Some(played) = self.playout.pop(self.now) {
            self.see(&played, false);
        }
        assert!(self.playout.next().is_none_or(|next| next > self.now));
    }

    fn see(&mut self, played: &Played<u64>, made_room: bool) {
        let item = played.item as usize;
        assert!(!std::mem::replace(&mut self.is_out[item], true), "played twice");
        assert_eq!(played.channel, 7);
        self.played[played.timing as usize] += 1;
        assert!(
            played.origin <= self.arrivals[item] && played.origin + HORIZON >= self.arrivals[item]
        );
        assert!(made_room || played.timing != Timing::Early);
        match played.timing {
            Timing::Late => assert_eq!(self.config.late, Late::Play),
            Timing::OnTime | Timing::Early => {
                assert!(played.origin >= self.newest, "out of order");
            }
        }
        if played.timing == Timing::OnTime {
            let delay = self.playout.stats(self.now).delay;
            assert!(played.origin + delay <= self.now, "before its time");
        }
        self.newest = self.newest.max(played.origin);
    }

    fn look(&mut self) {
        let stats = self.playout.stats(self.now);
        let [early, on_time, late] = self.played;
        assert_eq!(stats.arrived, self.pushed);
        assert_eq!(stats.early, early);
        assert_eq!(stats.arrived, early + on_time + late + stats.dropped + stats.waiting as u64);
        assert!(late + stats.dropped <= stats.late);
        assert!(stats.waiting <= self.config.max_items);
        assert!(stats.waiting_bytes <= self.config.max_bytes);
        assert!(stats.waiting > 0 || stats.waiting_bytes == 0);
        let (min, max) = self.bounds();
        assert!(
            stats.delay >= min && stats.delay <= max && stats.target >= min && stats.target <= max
        );
        if let Some((then, before)) = self.before.filter(|(_, before)| before.arrived > 0) {
            let passed = (self.now - then).as_secs_f64();
            let moved = stats.delay.as_secs_f64() - before.delay.as_secs_f64();
            assert!(
                moved <= passed * RISE + 1e-6 && moved >= -passed * FALL - 1e-6,
                "{moved} s in {passed} s"
            );
        }
        self.before = Some((self.now, stats));
    }
}

proptest! {
    #[test]
    fn every_arrival_is_played_in_order_and_in_time_or_counted(
        config in config(),
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut checked = Checked::new(config);
        steps.iter().for_each(|step| checked.step(step));
        while checked.playout.next().is_some() {
            checked.step(&Step::PopNext);
        }
        let stats = checked.playout.stats(checked.now);
        prop_assert_eq!(stats.late, checked.played[Timing::Late as usize] + stats.dropped);
    }
}

#[test]
fn times_at_the_end_of_the_scale_do_no_harm() {
    let times = [Duration::ZERO, ms(1), Duration::MAX - ms(1), Duration::MAX];
    for delay in [Delay::Fixed(Duration::MAX), adaptive(f64::NAN, 90, 5), adaptive(2.0, 0, 0)] {
        let mut playout = Playout::new(PlayoutConfig { delay, ..PlayoutConfig::default() });
        for now in times {
            for origin in times {
                assert!(playout.push(now, 0, origin, usize::MAX, ()).len() <= 1);
                assert!(playout.next().is_none_or(|next| next <= now.saturating_add(HORIZON)));
            }
            while playout.pop(now).is_some() {}
        }
    }
}

/// Pushes a message of age `age()` ms every 33 ms, from `from` to `to` ms; returns the share that came late.
fn play(playout: &mut Playout<u64>, from: u64, to: u64, mut age: impl FnMut() -> u64) -> f64 {
    let mut arrivals: Vec<(u64, u64)> =
        (from..to).step_by(33).map(|origin| (origin + age(), origin)).collect();
    arrivals.sort_unstable();
    let before = playout.stats(ms(0));
    for &(at, origin) in &arrivals {
        while playout.next().is_some_and(|next| next <= ms(at)) {
            let next = playout.next().unwrap();
            playout.pop(next);
        }
        assert!(playout.push(ms(at), 0, ms(origin), 20, origin).is_empty());
    }
    let after = playout.stats(ms(0));
    (after.late - before.late) as f64 / (after.arrived - before.arrived) as f64
}

#[test]
fn the_delay_follows_the_path() {
    let mut random = Rand32::new(5);
    let mut playout = Playout::new(PlayoutConfig::default());
    let mut delays = Vec::new();
    let mut late = Vec::new();
    // First constant ages; then jitter and 120 ms more for every tenth message, as if repeated; then constant ages again.
    for (from, to, jitter, repair) in
        [(0, 20, 10, 0), (20, 23, 40, 120), (23, 60, 40, 120), (60, 95, 10, 0), (95, 130, 10, 0)]
    {
        let age = || {
            let repaired = random.rand_range(0..10) == 0;
            u64::from(40 + random.rand_range(0..jitter) + if repaired { repair } else { 0 })
        };
        late.push(play(&mut playout, 1000 * from, 1000 * to, age));
        delays.push(playout.stats(ms(1000 * to)).delay.as_millis());
    }
    // The greatest ages are 50, 200, 200, 50 and 50 ms.
    assert!(delays[0] <= 55 && delays[4] <= 55, "{delays:?}");
    assert!((150..=205).contains(&delays[1]) && (180..=205).contains(&delays[2]), "{delays:?}");
    assert!(late[0] < 0.03 && late[2] < 0.03 && late[4] < 0.03, "{late:?}");
}

#[test]
fn channels_stay_in_step() {
    // Voice messages are young, pointers come by repeats: with separate buffers they would be played 30 to 110 ms apart.
    let mut playout = Playout::new(PlayoutConfig::default());
    let mut arrivals = Vec::new();
    for origin in (0..30_000).step_by(20) {
        arrivals.push((origin + 30, origin, 1));
        if origin % 40 == 0 {
            arrivals.push((origin + if origin % 200 == 0 { 140 } else { 60 }, origin, 2));
        }
    }
    arrivals.sort_unstable();
    let mut last = [Duration::ZERO; 3];
    let mut skews = Vec::new();
    for (at, origin, channel) in arrivals {
        while let Some(next) = playout.next().filter(|next| *next <= ms(at)) {
            let Played { item, channel, timing, .. } = playout.pop(next).unwrap();
            last[channel as usize] = next;
            if channel == 2 && timing == Timing::OnTime {
                let (pointer, voice) = (next - ms(item), last[1] - ms(item));
                skews.push(pointer.abs_diff(voice));
            }
        }
        assert!(playout.push(ms(at), channel, ms(origin), 20, origin).is_empty());
    }
    assert!(skews.len() > 600 && skews.iter().all(|skew| skew.is_zero()), "{skews:?}");
}

#[test]
fn a_late_message_is_marked_or_dropped() {
    for late in [Late::Play, Late::Drop] {
        let config =
            PlayoutConfig { delay: Delay::Fixed(ms(100)), late, ..PlayoutConfig::default() };
        let mut playout = Playout::new(config);
        assert!(playout.push(ms(1050), 0, ms(1000), 1, "new").is_empty());
        assert_eq!(playout.next(), Some(ms(1100)));
        assert_eq!(playout.pop(ms(1099)), None);
        let new = playout.pop(ms(1100)).unwrap();
        assert_eq!((new.item, new.timing), ("new", Timing::OnTime));
        assert!(playout.push(ms(1110), 0, ms(980), 1, "old").is_empty());
        let old = playout.pop(ms(1110)).map(|old| (old.item, old.origin, old.timing));
        let stats = playout.stats(ms(1110));
        assert_eq!(stats.late, 1);
        match late {
            Late::Play => assert_eq!(old, Some(("old", ms(980), Timing::Late))),
            Late::Drop => assert_eq!((old, stats.dropped), (None, 1)),
        }
    }
}

#[test]
fn the_oldest_messages_are_played_early_if_too_many_wait() {
    let config = PlayoutConfig {
        delay: Delay::Fixed(ms(100)),
        max_items: 3,
        max_bytes: 50,
        ..PlayoutConfig::default()
    };
    let mut playout = Playout::new(config);
    let mut push = |at: u64, bytes| -> Vec<u64> {
        let early = playout.push(ms(at), 0, ms(at), bytes, at);
        assert!(early.iter().all(|played| played.timing == Timing::Early));
        early.into_iter().map(|played| played.item).collect()
    };
    assert_eq!(push(1, 10), []);
    assert_eq!(push(2, 10), []);
    assert_eq!(push(3, 10), []);
    assert_eq!(push(4, 10), [1]);
    assert_eq!(push(5, 35), [2, 3]);
    assert_eq!(push(6, 51), [4, 5, 6]);
    assert_eq!(playout.next(), None);
}
