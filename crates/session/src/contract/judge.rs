//! What a receiver measures of one channel, and when it says that the contract is missed.

use core::time::Duration;

use super::course::{Course, Terms};
use super::rare::Rare;
use super::{Breach, ContractState, Histogram, Standing, Tally};
use crate::map::Map;
use crate::qos::interval_of;
use crate::trace::AGES;
use crate::{Kind, Qos};

/// Seconds that are looked back on: long enough for some hundred messages of a pointer, short enough to notice what
/// changed.
const WINDOW: usize = 10;

/// Fewer messages than this tell nothing of a share.
const LEAST_JUDGED: u64 = 20;

/// The same of a rate.
const LEAST_ACTIVE: Duration = Duration::from_secs(2);

/// Between two events about a channel: people read them.
const NEWS_SPACING: Duration = Duration::from_secs(3);

/// A share of misses is news once so many more than a tenth above the target were missed, since it was last kept: some, and
/// this part of what may miss in ten seconds (Page, "Continuous Inspection Schemes", 1954). A share that is higher for a
/// moment is none, a little more for long is.
const ABOVE: f64 = 1.1;
const PATIENCE: (f64, f64) = (10.0, 0.5);

/// The share of transactions that may come after their deadline, in 1/1000.
const LATE_TRANSACTIONS: u16 = 10;

/// What a receiver lets its repeats be chosen for, as a share of what may miss: a little less.
const AIM: f64 = 0.94;

/// Senders whose messages are followed; of further ones only lateness is judged.
const MAX_SENDERS: usize = 4096;

/// A message as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) sender: u32,
    /// Its place among its sender's on the channel; `None` for transactions, of which none are missing.
    pub(crate) index: Option<u32>,
    pub(crate) age: Duration,
    /// It is of the past, as late joiners are sent it, and says where its sender stands.
    pub(crate) is_state: bool,
}

/// One channel at one receiver.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    courses: Map<u32, Course>,
    seconds: [Second; WINDOW],
    /// The second that is counted in, since the beginning.
    current: u64,
    /// Of transactions, which may be far between.
    rare: Rare,
    pub(crate) total: Tally,
    pub(crate) replaced: u64,
    pub(crate) latency: Histogram,
    /// Of the last ten seconds that are over, and of those that are not.
    latencies: [Histogram; 2],
    /// What the server said of the senders' ways, in 1/1000.
    pub(crate) upstream: u16,
    /// The shares that will miss at best as far as the way to the server goes, and the way from it; 0: no more than may.
    pub(crate) outlook: [u16; 2],
    /// See [`Judge::take_beyond`].
    beyond: f64,
    /// Messages missed beyond [`ABOVE`], not less than none.
    excess: f64,
    state: State,
    told_at: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Second {
    tally: Tally,
    /// Values that came while their sender sent at least at the minimum rate, and how long that was.
    steps: u32,
    active: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    lossy: bool,
    slow: bool,
    hopeless: bool,
    bleak: bool,
}

impl Judge {
    /// A message came. `limit`: the most that the receiver asked for, in 1/1000 per second; 0: all.
    pub(crate) fn judge(&mut self, now: Duration, qos: &Qos, limit: u32, message: Judged) {
        let thinned = interval_of(limit);
        self.turn_to(now);
        let Judged { sender, index, age, is_state } = message;
        let born = now.saturating_sub(age);
        let known = self.courses.contains_key(&sender);
        let has_place = known || self.courses.len() < MAX_SENDERS;
        if let Some(index) = index.filter(|_| has_place && (is_state || !known)) {
            self.courses.insert(sender, Course::at(index, born));
        }
        if is_state {
            return;
        }
        let terms = Terms { qos, thinned };
        let course = self.courses.get_mut(&sender).filter(|_| known);
        let verdict = match (course, index) {
            (Some(course), Some(index)) => course.came(now, index, age, terms),
            _ => terms.alone(age),
        };
        if index.is_none() {
            self.rare.add(now, verdict.tally.late > 0);
        }
        if verdict.is_found {
            self.find();
        }
        let Second { tally, steps, active } = &mut self.seconds[self.current as usize % WINDOW];
        tally.add(verdict.tally);
        self.total.add(verdict.tally);
        if let Some(step) = verdict.step {
            *steps = steps.saturating_add(1);
            *active = active.saturating_add(step);
        }
        self.replaced = self.replaced.saturating_add(u64::from(verdict.replaced));
        self.latency.add(age);
        self.latencies[1].add(age);
        let Tally { judged, missed, .. } = verdict.tally;
        let missed = missed as f64 - f64::from(u8::from(verdict.is_found));
        let permitted = judged as f64 * f64::from(qos.loss) / 1000.0;
        self.beyond += missed - AIM * permitted;
        self.excess = (self.excess + missed - ABOVE * permitted).max(0.0);
    }

    /// How many messages were missed beyond what may (less than 0: fewer), since the last call.
    pub(crate) fn take_beyond(&mut self) -> f64 {
        core::mem::take(&mut self.beyond)
    }

    /// Somebody left for good.
    pub(crate) fn forget(&mut self, sender: u32) {
        self.courses.remove(&sender);
    }

    /// Of this transport nothing is known yet.
    pub(crate) fn forget_path(&mut self) {
        self.outlook = [0; 2];
        self.beyond = 0.0;
    }

    /// Another QoS, or another rate: what was is judged no more.
    pub(crate) fn begin_anew(&mut self) {
        self.seconds = Default::default();
        self.latencies = Default::default();
        self.rare = Rare::default();
        self.beyond = 0.0;
        self.excess = 0.0;
        self.state = State::default();
    }

    /// The last ten seconds.
    pub(crate) fn recent(&self) -> Tally {
        let mut sum = Tally::default();
        self.seconds.iter().for_each(|second| sum.add(second.tally));
        sum
    }

    /// What the state is seen by: the last ten seconds, or the last messages if those are more.
    fn known(&self) -> Tally {
        if self.is_rare() { self.rare.tally() } else { self.recent() }
    }

    fn is_rare(&self) -> bool {
        self.rare.tally().judged > self.recent().judged
    }

    /// How it stands at `now`; `None` if nothing came lately. `saved`: what repeats saved.
    pub(crate) fn standing(&mut self, now: Duration, channel: u32, saved: u64) -> Option<Standing> {
        self.turn_to(now);
        let tally = self.recent();
        let [mut ages, current] = self.latencies;
        ages.merge(&current);
        let mut latencies = [0u32; AGES.len() + 1];
        for (ms, count) in ages.buckets() {
            let place = AGES.iter().position(|&bound| ms <= bound).unwrap_or(AGES.len());
            latencies[place] = latencies[place].saturating_add(count);
        }
        let quantile = |share| ages.quantile(share).unwrap_or_default();
        (tally.judged > 0).then(|| Standing {
            channel,
            tally,
            saved,
            rate: self.rate(),
            median: quantile(0.5),
            p99: quantile(0.99),
            latencies,
        })
    }

    /// In 1/1000 per second, while senders sent at least at the minimum rate.
    pub(crate) fn rate(&self) -> Option<u32> {
        let active: Duration = self.seconds.iter().map(|second| second.active).sum();
        let steps: u64 = self.seconds.iter().map(|second| u64::from(second.steps)).sum();
        let rate = steps * 1_000_000 / (active.as_millis() as u64).max(1);
        (active >= LEAST_ACTIVE).then(|| u32::try_from(rate).unwrap_or(u32::MAX))
    }

    pub(crate) fn state(&self, qos: &Qos) -> ContractState {
        let target = tolerated(qos);
        let State { lossy, slow, hopeless, bleak } = self.state;
        match (lossy, slow) {
            (true, _) => {
                let missed = self.known().missed_per_mille();
                let breach = Breach::Loss { target, missed, deadline: self.achievable(target) };
                if hopeless || bleak {
                    ContractState::CannotMeet(breach)
                } else {
                    ContractState::Missed(breach)
                }
            }
            (false, _) if bleak => {
                let deadline = self.achievable(target);
                let missed = self.expected();
                ContractState::CannotMeet(Breach::Loss { target, missed, deadline })
            }
            (false, true) => {
                let rate = self.rate().unwrap_or_default();
                ContractState::Missed(Breach::Rate { target: qos.rate_min, rate })
            }
            (false, false) => ContractState::Met,
        }
    }

    /// The state, if it changed and that is worth an event by now.
    pub(crate) fn news(&mut self, now: Duration, qos: &Qos, limit: u32) -> Option<ContractState> {
        if self.told_at.is_some_and(|at| now < at + NEWS_SPACING) {
            return None;
        }
        let was_met = self.state(qos) == ContractState::Met;
        let is_forgiven = self.rare.forgives(now);
        let mut state = self.look(qos, limit);
        state.lossy &= !(is_forgiven && self.recent().judged < LEAST_JUDGED);
        if state == self.state {
            return None;
        }
        if self.state.lossy && !state.lossy {
            self.excess = 0.0;
        }
        self.state = state;
        let state = self.state(qos);
        if was_met && state == ContractState::Met {
            return None;
        }
        self.told_at = Some(now);
        Some(state)
    }

    /// Whether more is missed than may, so much or for so long that it is no chance.
    fn exceeds(&self, kind: Kind, allowed: u64) -> bool {
        match kind {
            Kind::Transaction => self.known().missed > allowed.saturating_add(allowed / 4 + 2),
            Kind::Awareness => self.excess > PATIENCE.0 + PATIENCE.1 * allowed as f64,
        }
    }

    /// Begins to be missed above the target, and is met again at the target: so that a share near it is no news.
    fn look(&self, qos: &Qos, limit: u32) -> State {
        let mut state = self.state;
        let Tally { judged, missed, .. } = self.known();
        let allowed = share_of(judged, tolerated(qos));
        if judged >= LEAST_JUDGED {
            state.lossy = missed > allowed && (state.lossy || self.exceeds(qos.kind, allowed));
            state.hopeless = state.lossy && missed == judged;
        }
        // What came is known better than what is to be expected of it; of what is sent nothing comes here.
        let [sent, received] = self.outlook;
        let is_known = judged >= LEAST_JUDGED && !state.lossy;
        let expected = sent.max(if is_known { 0 } else { received });
        // Nor is that known to the last part.
        state.bleak = expected > tolerated(qos).saturating_add(tolerated(qos) / 4);
        let wanted = qos.rate_min;
        let asked_for_less = limit > 0 && limit < wanted;
        state.slow = match self.rate().filter(|_| wanted > 0 && !asked_for_less) {
            Some(rate) if state.slow => rate < wanted,
            Some(rate) => rate < wanted / 10 * 9,
            None => state.slow && !asked_for_less && wanted > 0,
        };
        state
    }

    fn expected(&self) -> u16 {
        self.outlook.into_iter().fold(0, u16::max)
    }

    /// The deadline that the target would have held at.
    fn achievable(&self, target: u16) -> Option<Duration> {
        let is_rare = self.is_rare();
        let Tally { judged, missed, late } = if is_rare { self.total } else { self.recent() };
        // What never came is older than any deadline.
        let never = missed.saturating_sub(late);
        let permitted = share_of(judged, target);
        let older = permitted.checked_sub(never)?;
        let [mut ages, current] =
            if is_rare { [self.latency, Histogram::default()] } else { self.latencies };
        ages.merge(&current);
        let came: u64 = ages.buckets().map(|(_, count)| u64::from(count)).sum();
        let mut younger = came.checked_sub(older)?;
        for (ms, count) in ages.buckets() {
            younger = younger.saturating_sub(u64::from(count));
            if younger == 0 {
                return Some(Duration::from_millis(ms.into()));
            }
        }
        None
    }

    /// What was counted as missed came in time.
    fn find(&mut self) {
        self.total.missed = self.total.missed.saturating_sub(1);
        let back =
            (0..WINDOW as u64).map(|back| (self.current + WINDOW as u64 - back) as usize % WINDOW);
        let holds = |at: &usize| self.seconds[*at].tally.missed > self.seconds[*at].tally.late;
        if let Some(at) = back.into_iter().find(holds) {
            self.seconds[at].tally.missed -= 1;
        }
    }

    fn turn_to(&mut self, now: Duration) {
        let second = now.as_secs();
        let passed = second.saturating_sub(self.current);
        for ahead in 1..=passed.min(WINDOW as u64) {
            self.seconds[((self.current + ahead) % WINDOW as u64) as usize] = Second::default();
        }
        if second / WINDOW as u64 != self.current / WINDOW as u64 {
            self.latencies = [self.latencies[1], Histogram::default()];
        }
        self.current = self.current.max(second);
    }
}

/// This share of a count, in 1/1000.
fn share_of(count: u64, per_mille: u16) -> u64 {
    (u128::from(count) * u128::from(per_mille) / 1000) as u64
}

/// The share that may be lost or late, in 1/1000.
fn tolerated(qos: &Qos) -> u16 {
    match qos.kind {
        Kind::Transaction => LATE_TRANSACTIONS,
        Kind::Awareness => qos.loss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const MS: Duration = Duration::from_millis(1);
    const POINTER: Qos = Qos::awareness().deadline(Duration::from_millis(100)).rate(10, 25);

    /// A pointer at 25/s from `start` on, of which each `of`-th value comes and is so old.
    fn point(
        judge: &mut Judge,
        start: u32,
        count: u32,
        of: u32,
        age: Duration,
    ) -> Vec<ContractState> {
        let mut news = Vec::new();
        for index in (start..start + count).step_by(of as usize) {
            let now = MS * 40 * index + age;
            let message = Judged { sender: 1, index: Some(index), age, is_state: false };
            judge.judge(now, &POINTER, 0, message);
            news.extend(judge.news(now, &POINTER, 0));
        }
        news
    }

    #[test]
    fn a_contract_is_missed_once_and_met_once() {
        let mut judge = Judge::default();
        assert_eq!(point(&mut judge, 1, 250, 1, MS * 30), []);
        let news = point(&mut judge, 251, 250, 1, MS * 180);
        let [
            ContractState::Missed(Breach::Loss { target: 50, missed: 50.., .. }),
            ContractState::CannotMeet(Breach::Loss { missed: 1000, deadline, .. }),
        ] = news[..]
        else {
            panic!("{news:?}");
        };
        assert!(deadline.is_some_and(|deadline| (MS * 180..MS * 200).contains(&deadline)));
        assert_eq!(point(&mut judge, 501, 500, 1, MS * 30).last(), Some(&ContractState::Met));
        let report = judge.total;
        assert_eq!((report.judged, report.missed, report.late), (1000, 250, 250));
        assert_eq!(judge.recent(), Tally { judged: 226, missed: 0, late: 0 });
    }

    #[test]
    fn what_cannot_be_met_is_said_so() {
        let mut judge = Judge::default();
        let news = point(&mut judge, 1, 250, 1, MS * 180);
        assert!(
            matches!(news[..], [ContractState::CannotMeet(Breach::Loss { missed: 1000, .. })]),
            "{news:?}"
        );
        assert_eq!(judge.rate(), Some(25_000));
    }

    #[test]
    fn a_minimum_rate_is_missed_though_more_was_sent() {
        let mut judge = Judge::default();
        let qos = POINTER.deadline(Duration::from_secs(2));
        let mut news = Vec::new();
        for index in (1..250).step_by(5) {
            let now = MS * 40 * index;
            let message = Judged { sender: 1, index: Some(index), age: MS * 30, is_state: false };
            judge.judge(now, &qos, 0, message);
            news.extend(judge.news(now, &qos, 0));
        }
        assert_eq!(news, [ContractState::Missed(Breach::Rate { target: 10_000, rate: 5_000 })]);
    }

    /// A pointer at 25/s, of which 5 % may miss: when what became of it.
    fn news_of(count: u32, is_late: impl Fn(u32) -> bool) -> Vec<(Duration, ContractState)> {
        let mut judge = Judge::default();
        let mut news = Vec::new();
        for index in 1..count {
            let age = if is_late(index) { MS * 150 } else { MS * 20 };
            let now = MS * 40 * index + MS * 150;
            let message = Judged { sender: 1, index: Some(index), age, is_state: false };
            judge.judge(now, &POINTER, 0, message);
            news.extend(judge.news(now, &POINTER, 0).map(|state| (now, state)));
        }
        news
    }

    #[test]
    fn a_share_near_the_target_is_no_news() {
        // 5 % late, at uneven distances.
        assert_eq!(news_of(2000, |index| index * 7919 % 100 < 5), []);
    }

    #[test]
    fn more_for_a_moment_is_no_news_and_a_little_more_for_long_is() {
        // 24 of 250 within ten seconds, in two outages.
        assert_eq!(news_of(2000, |index| matches!(index, 500..512 | 650..662)), []);
        let news = news_of(2000, |index| index % 12 == 0);
        let [(at, ContractState::Missed(Breach::Loss { missed: 70.., .. }))] = news[..] else {
            panic!("{news:?}");
        };
        assert!((MS * 10_000..MS * 40_000).contains(&at), "{at:?}");
    }

    #[test]
    fn of_rare_transactions_the_last_ones_tell() {
        let mut judge = Judge::default();
        let qos = Qos::transaction().deadline(MS * 250);
        let mut news = Vec::new();
        let mut add = |news: &mut Vec<ContractState>, numbers: core::ops::Range<u32>, of: u32| {
            for number in numbers {
                // One in five seconds.
                let now = MS * 5000 * number;
                let age = if number % of == 1 { MS * 400 } else { MS * 50 };
                let message = Judged { sender: 1, index: None, age, is_state: false };
                judge.judge(now, &qos, 0, message);
                news.extend(judge.news(now, &qos, 0));
            }
        };
        // Two of sixty are no more than may be.
        add(&mut news, 1..60, 50);
        assert_eq!(news, []);
        add(&mut news, 60..100, 10);
        assert!(
            matches!(
                news[..],
                [ContractState::Missed(Breach::Loss {
                    target: 10,
                    missed: 40..100,
                    deadline: Some(_)
                })]
            ),
            "{news:?}"
        );
        add(&mut news, 100..125, 1000);
        assert_eq!(news[1..], [ContractState::Met]);
    }

    #[test]
    fn senders_are_bounded() {
        let mut judge = Judge::default();
        for sender in 0..MAX_SENDERS as u32 + 10 {
            let message = Judged { sender, index: Some(1), age: MS, is_state: false };
            judge.judge(MS, &POINTER, 0, message);
        }
        assert!(judge.courses.len() <= MAX_SENDERS);
    }

    #[test]
    fn no_numbers_are_too_large_to_count_with() {
        let mut judge = Judge::default();
        let full = Tally { judged: u64::MAX, missed: u64::MAX, late: u64::MAX };
        (judge.total, judge.replaced, judge.excess) = (full, u64::MAX, f64::MAX);
        let qos = Qos {
            rate_min: u32::MAX,
            deadline: Some(Duration::from_millis(u64::MAX)),
            ..Qos::awareness()
        };
        // A clock that counts from 1970, and ages of up to half a year.
        let now = MS * 1000 * 1_800_000_000;
        judge.judge(
            now,
            &qos,
            1,
            Judged { sender: 1, index: Some(0), age: Duration::ZERO, is_state: false },
        );
        let ages = [Duration::from_millis(u64::from(u32::MAX) * 4), Duration::ZERO];
        for step in 0..100u32 {
            let index = Some(step.wrapping_mul(0x7fff_fff0));
            let age = ages[step as usize % 2];
            for limit in [0, 1, u32::MAX] {
                judge.judge(now, &qos, limit, Judged { sender: 1, index, age, is_state: false });
            }
            judge.seconds[judge.current as usize % WINDOW].tally = full;
            judge.news(now + MS * 4000 * step, &qos, 0);
        }
        assert_eq!(judge.total, full);
        assert_eq!(judge.total.missed_per_mille(), 1000);
        assert!(matches!(judge.state(&qos), ContractState::CannotMeet(_)));
    }
}
