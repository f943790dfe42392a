//! What a receiver measures of one channel, and when it says that the contract is missed.

use core::time::Duration;

use super::course::{Course, Terms};
use super::rare::Rare;
use super::{Breach, ContractState, Histogram, Standing, Tally};
use crate::ids::{ChannelNo, Index, ParticipantId};
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
    pub(crate) sender: ParticipantId,
    /// Its place among its sender's on the channel; `None` for transactions, of which none are missing.
    pub(crate) index: Option<Index>,
    pub(crate) age: Duration,
    /// It is of the past, as late joiners are sent it, and says where its sender stands.
    pub(crate) is_state: bool,
}

/// One channel at one receiver.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    courses: Map<ParticipantId, Course>,
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
    pub(crate) fn forget(&mut self, sender: ParticipantId) {
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
    pub(crate) fn standing(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        saved: u64,
    ) -> Option<Standing> {
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
    fn exceeds(&self, kind: Kind, missed: u64, allowed: u64) -> bool {
        match kind {
            Kind::Transaction => missed > allowed.saturating_add(allowed / 4 + 2),
            Kind::Awareness => self.excess > PATIENCE.0 + PATIENCE.1 * allowed as f64,
        }
    }

    /// Begins to be missed above the target, and is met again at the target: so that a share near it is no news.
    fn look(&self, qos: &Qos, limit: u32) -> State {
        let mut state = self.state;
        let Tally { judged, missed, .. } = self.known();
        let allowed = share_of(judged, tolerated(qos));
        if judged >= LEAST_JUDGED {
            let is_no_chance = || self.exceeds(qos.kind, missed, allowed);
            state.lossy = missed > allowed && (state.lossy || is_no_chance());
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
mod tests;
