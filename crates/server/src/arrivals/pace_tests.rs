use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);
/// A tick of the simulated rooms.
const TICK: Duration = Duration::from_millis(40);

fn pace() -> Pace {
    Pace::new(ArrivalLimits::default())
}

/// A server with one core. Joins cost the same time each and are served in their order; a tick of a
/// room comes after them.
struct Simulated {
    pace: Pace,
    /// The time that a join takes, and that it takes to tell a client when to come back.
    join: Duration,
    refusal: Duration,
    /// The kind of the connections, and the time that a handshake takes.
    newcomer: Newcomer,
    handshake: Duration,
    /// The time until which the core is busy.
    busy_until: Duration,
    /// The next step of each client, by its time.
    clients: BTreeMap<(Duration, u32), Step>,
    backlog: VecDeque<u32>,
    is_accepting: bool,
    serving: VecDeque<(Duration, Duration)>,
    measured: Measured,
    joined: Vec<Duration>,
    told: Vec<u32>,
    lags: Vec<Duration>,
}

#[derive(Clone, Copy)]
enum Step {
    /// The client's connection waits in the kernel.
    Connects,
    /// The server accepts the next connection.
    Accept,
    Arrives,
    AsksAgain {
        place: WaitingPlace,
        since: Duration,
    },
    Joins,
}

impl Simulated {
    /// `clients` clients connect within `span`.
    fn new(join: Duration, clients: u32, span: Duration) -> Self {
        let at = |number| (span * number / clients, number);
        Simulated {
            pace: pace(),
            join,
            refusal: join / 5,
            newcomer: Newcomer::Plain,
            handshake: Duration::ZERO,
            busy_until: Duration::ZERO,
            clients: (0..clients).map(|number| (at(number), Step::Connects)).collect(),
            backlog: VecDeque::new(),
            is_accepting: false,
            serving: VecDeque::new(),
            measured: Measured::default(),
            joined: Vec::new(),
            told: vec![0; clients as usize],
            lags: Vec::new(),
        }
    }

    /// Runs until all clients have joined. Returns how long that took.
    fn run(&mut self) -> Duration {
        let mut tick = TICK;
        while let Some(((now, number), step)) = self.clients.pop_first() {
            while tick <= now {
                self.tick(tick);
                tick += TICK;
            }
            self.turn(now);
            match step {
                Step::Connects => {
                    self.backlog.push_back(number);
                    if !std::mem::replace(&mut self.is_accepting, true) {
                        self.accept(now);
                    }
                }
                Step::Accept => self.accept(now),
                Step::Arrives => {
                    let answer = self.pace.arrive(now);
                    self.answer(now, number, answer, now);
                }
                Step::AsksAgain { place, since } => {
                    let answer = self.pace.ask_again(now, place, now - since);
                    self.answer(now, number, answer, since);
                }
                Step::Joins => {
                    self.work(now, self.join);
                    self.serving.push_back((self.busy_until, now));
                }
            }
            assert!(now < Duration::from_secs(600), "somebody is never taken in");
        }
        let last = self.serving.back().map(|(done, _)| *done);
        self.serve_until(last.unwrap_or_default());
        last.unwrap_or_default()
    }

    fn answer(&mut self, now: Duration, number: u32, answer: Answer, since: Duration) {
        match answer {
            Answer::Join => _ = self.clients.insert((now, number), Step::Joins),
            Answer::Wait { after, place } => {
                assert!(now + after - since <= MOST_PATIENCE, "{after:?}");
                self.clients.insert((now + after, number), Step::AsksAgain { place, since });
            }
            Answer::ComeBack { after } => {
                assert!((LONGEST_WAIT..=LONGEST_AWAY).contains(&after), "{after:?}");
                self.work(now, self.refusal);
                self.told[number as usize] += 1;
                // A client adds up to 250 ms at random.
                let jitter = MS * (number.wrapping_mul(7919) % 250);
                self.clients.insert((now + after + jitter, number), Step::Connects);
            }
        }
    }

    fn accept(&mut self, now: Duration) {
        let Some(number) = self.backlog.pop_front() else {
            self.is_accepting = false;
            return;
        };
        let at = now + self.pace.connect(now, self.newcomer);
        self.work(at, self.handshake);
        self.clients.insert((at, number), Step::Arrives);
        self.clients.insert((at, u32::MAX), Step::Accept);
    }

    fn work(&mut self, now: Duration, time: Duration) {
        self.busy_until = self.busy_until.max(now) + time;
    }

    fn tick(&mut self, now: Duration) {
        let lag = self.busy_until.saturating_sub(now);
        self.lags.push(lag);
        self.measure(lag);
        self.turn(now);
    }

    fn measure(&mut self, lag: Duration) {
        self.measured.times += 1;
        self.measured.late += u32::from(lag > self.pace.limits.lag);
        self.measured.longest = self.measured.longest.max(lag);
    }

    fn turn(&mut self, now: Duration) {
        self.serve_until(now);
        if self.pace.is_due(now) {
            self.pace.end_interval(now, std::mem::take(&mut self.measured));
        }
    }

    fn serve_until(&mut self, now: Duration) {
        while let Some((done, asked)) =
            self.serving.front().copied().filter(|(done, _)| *done <= now)
        {
            self.serving.pop_front();
            self.joined.push(done);
            self.measured.served += 1;
            self.measure(done - asked);
        }
    }

    fn late_share(&self) -> f64 {
        let late = self.lags.iter().filter(|lag| **lag > MS * 50).count();
        late as f64 / self.lags.len() as f64
    }
}

#[test]
fn a_few_who_come_together_are_taken_in_at_once() {
    let mut pace = pace();
    let now = Duration::from_secs(5);
    assert!((0..50).all(|_| pace.arrive(now) == Answer::Join));
    let waits = (0..500).map(|_| pace.arrive(now));
    assert!(waits.into_iter().all(|answer| matches!(answer, Answer::Wait { .. })));
}

#[test]
fn who_is_told_to_come_back_is_given_another_time_than_everybody_else() {
    let mut pace = pace();
    let now = Duration::from_secs(1);
    let mut times = Vec::new();
    for _ in 0..10_000 {
        if let Answer::ComeBack { after } = pace.arrive(now) {
            times.push(after);
        }
    }
    assert!((8900..9000).contains(&times.len()), "{}", times.len());
    assert!(times.is_sorted_by(|one, next| one < next));
    let last = times.last().copied().unwrap();
    assert!(last > Duration::from_secs(8) && last < Duration::from_secs(9), "{last:?}");
}

#[test]
fn nobody_is_sent_away_for_long_and_the_rest_is_spread() {
    let mut pace = pace();
    let times: Vec<_> = (0..200_000)
        .filter_map(|_| match pace.arrive(Duration::ZERO) {
            Answer::ComeBack { after } => Some(after),
            _ => None,
        })
        .skip(50_000)
        .collect();
    let seconds = |second| {
        let second = Duration::from_secs(second)..Duration::from_secs(second + 1);
        times.iter().filter(|time| second.contains(*time)).count()
    };
    let counts: Vec<_> = (0..31).map(seconds).collect();
    assert!(counts[..15].iter().all(|count| *count == 0), "{counts:?}");
    assert!(counts[15..30].iter().all(|count| (9000..11_000).contains(count)), "{counts:?}");
}

#[test]
fn the_rate_is_what_the_server_can_serve_and_rooms_keep_their_ticks() {
    for join_us in [200, 500, 1000, 2000, 5000] {
        let join = Duration::from_micros(join_us);
        let mut storm = Simulated::new(join, 10_000, Duration::from_secs(2));
        let took = storm.run();
        assert_eq!(storm.joined.len(), 10_000);
        let least = join * 10_000;
        // The core bounds the rate of joins. Refusals and the time that is left for rooms take a
        // part of it.
        let most = least * 2 + Duration::from_secs(8);
        assert!(took < most, "{join_us} us: {took:?} of {least:?}");
        let late = storm.late_share();
        // Once or twice the rate is found to be too high.
        assert!(late < 0.2, "{join_us} us: {late}");
        let told: u32 = storm.told.iter().sum();
        assert!(told < 30_000, "{join_us} us: {told} were told to come back");
    }
}

#[test]
fn all_who_come_at_the_same_moment_are_served_too() {
    let mut storm =
        Simulated::new(Duration::from_micros(500), 10_000, Duration::from_nanos(10_000));
    let took = storm.run();
    assert_eq!(storm.joined.len(), 10_000);
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn the_rate_falls_below_what_was_served_and_comes_back() {
    let mut pace = pace();
    let mut now = Duration::from_secs(1);
    let mut interval = |pace: &mut Pace, measured| {
        (0..2000).for_each(|_| _ = pace.arrive(now));
        now += INTERVAL;
        pace.end_interval(now, measured);
        pace.rate()
    };
    // A rate may grow while a twentieth of the measurements are late.
    let calm = Measured { times: 20, late: 1, served: 100, ..Measured::default() };
    let grown = interval(&mut pace, calm);
    assert!(grown > BEGIN);
    let late = Measured { times: 20, late: 10, served: 80, ..Measured::default() };
    let fallen = interval(&mut pace, late);
    assert!(fallen < 800.0 && fallen >= grown * MOST_FALL, "{fallen}");
    // An interval in which no client was served does not change the rate.
    let nothing = Measured::default();
    assert!((interval(&mut pace, nothing) - fallen).abs() < 1e-9);
    // Without a storm the rate is that of the beginning after a while.
    pace.end_interval(Duration::from_secs(60), nothing);
    assert!((pace.rate() - BEGIN).abs() < 1e-9);
}

#[test]
fn rooms_that_are_late_while_nobody_comes_change_nothing() {
    let mut pace = pace();
    let late = Measured { times: 100, late: 100, ..Measured::default() };
    pace.end_interval(Duration::from_secs(1), late);
    assert!((pace.rate() - BEGIN).abs() < 1e-9);
}

#[test]
fn a_limit_holds_and_without_limits_everybody_is_taken_in_at_once() {
    let limits = ArrivalLimits { joins_per_second: 10, ..ArrivalLimits::default() };
    let mut limited = Pace::new(limits);
    assert!((limited.rate() - 10.0).abs() < 1e-9);
    let now = Duration::from_secs(1);
    let here = |answer| !matches!(answer, Answer::ComeBack { .. });
    let joins = (0..100).filter(|_| here(limited.arrive(now))).count();
    assert!((10..=12).contains(&joins), "{joins}");
    limited.end_interval(now, Measured { times: 1, served: 1, ..Measured::default() });
    assert!((limited.rate() - 10.0).abs() < 1e-9);

    let limits = ArrivalLimits { joins_per_second: 0, lag: Duration::ZERO };
    let mut unlimited = Pace::new(limits);
    assert!((0..100_000).all(|_| unlimited.arrive(now) == Answer::Join));
    assert!((0..100_000).all(|_| unlimited.connect(now, Newcomer::Plain).is_zero()));
}

#[test]
fn connections_wait_in_turn() {
    let mut pace = pace();
    let now = Duration::from_secs(1);
    let waits: Vec<_> = (0..4000).map(|_| pace.connect(now, Newcomer::Plain)).collect();
    assert!(waits.is_sorted());
    assert!(waits[..40].iter().all(Duration::is_zero));
    assert!(waits[3999] > MS * 900 && waits[3999] < MS * 1100, "{:?}", waits[3999]);
}

#[test]
fn clients_with_tls_wait_before_the_handshake_and_are_rarely_told_to_come_back() {
    let storm = |newcomer| {
        let join = MS / 2;
        let mut storm = Simulated::new(join, 5000, Duration::from_secs(2));
        (storm.newcomer, storm.handshake) = (newcomer, join);
        let took = storm.run();
        assert_eq!(storm.joined.len(), 5000);
        (took, storm.told.iter().sum::<u32>(), storm.late_share())
    };
    let (took, told, late) = storm(Newcomer::Encrypted);
    let (longer, oftener, later) = storm(Newcomer::Plain);
    assert!(took < longer, "{took:?} {longer:?}");
    assert!(told * 3 < oftener, "{told} {oftener}");
    assert!(late <= later, "{late} {later}");
}

proptest! {
    /// For all measurements and arrivals, the rate and the answers stay within their bounds.
    #[test]
    fn rates_and_answers_have_bounds(
        joins_per_second in 0..3000_u32,
        steps in proptest::collection::vec((0..300_u64, 0..50_u32, 0..200_u32, 0..200_u32, 0..500_u32), 1..100),
    ) {
        let mut pace = Pace::new(ArrivalLimits { joins_per_second, ..ArrivalLimits::default() });
        let mut now = Duration::ZERO;
        for (ms, comers, times, late, served) in steps {
            now += Duration::from_millis(ms);
            for _ in 0..comers {
                let _ = pace.connect(now, Newcomer::Encrypted);
                match pace.arrive(now) {
                    Answer::Join => {}
                    Answer::Wait { after, .. } => prop_assert!(after <= LONGEST_WAIT),
                    Answer::ComeBack { after } => {
                        prop_assert!((LONGEST_WAIT..=LONGEST_AWAY).contains(&after));
                    }
                }
            }
            if pace.is_due(now) {
                pace.end_interval(now, Measured { times, late: late.min(times), longest: Duration::from_millis(ms), served });
            }
            let most = if joins_per_second == 0 { HIGHEST } else { f64::from(joins_per_second) };
            prop_assert!(pace.rate() <= most && pace.rate() >= LOWEST.min(most));
        }
    }
}
