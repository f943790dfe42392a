//! Measures one channel at one receiver, and decides when its contract counts as missed (wire W76).

use core::time::Duration;

use super::last_messages::LastMessages;
use super::sender_progress::{SenderProgress, Terms};
use super::{Breach, ChannelQuality, ContractState, Histogram, Tally};
use crate::datagrams::share::{LATE_TRANSACTIONS, permitted_misses, steered_misses};
use crate::ids::{ChannelNo, Index, ParticipantId};
use crate::map::Map;
use crate::trace::AGES;
use crate::{Kind, Qos, Rate};

/// The length of the window in seconds: long enough for some hundred messages of a pointer, short
/// enough to notice a change.
const WINDOW: usize = 10;

/// The fewest messages from which the share of missed ones is judged. Among fewer messages, a
/// single missed one would be more than 5 %, which is a usual target.
const LEAST_JUDGED: u64 = 20;

/// The fewest messages, and the fewest different seconds of the window with messages, from which a
/// contract counts as missed if none was in time. Three seconds are longer than a burst of losses
/// or the queue of a busy moment, and soon enough that people do not wonder for long. Chosen by
/// judgement; not tuned.
const LEAST_MISSED: u64 = 6;
const LEAST_SECONDS: usize = 3;

/// The shortest time of sending from which the rate is judged: a fifth of the window.
const LEAST_ACTIVE: Duration = Duration::from_secs(2);

/// The shortest time between two events about a channel, because people read them.
const NEWS_SPACING: Duration = Duration::from_secs(3);

/// An awareness channel counts as missed by a CUSUM test (Page, "Continuous Inspection Schemes",
/// 1954): the misses beyond 1.1 times the target are summed, never below zero. The contract is
/// missed when the sum exceeds 10 plus half of the misses that the target permits in the window. So
/// a high share for a moment does not count, a slightly higher one for long does. Tuned on four
/// people in a simulated room for ten minutes whose contracts were all kept: 10 events instead of
/// 152.
const ABOVE: f64 = 1.1;
const EXCESS: f64 = 10.0;
const EXCESS_SHARE: f64 = 0.5;

/// The number of transactions that may be late in addition to five quarters of the permitted
/// hundredth: a single late one may be an accident. Two of the last 64 are not: at a hundredth this
/// happens to one in seven, at half of that to one in 25.
const FEW_LATE: u64 = 1;

/// The most senders whose indices are remembered, which bounds the memory (law 3 in docs/laws.md).
/// For messages of further senders, only their age is judged.
const MAX_SENDERS: usize = 4096;

/// A received message that is to be judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceivedMessage {
    pub(crate) sender: ParticipantId,
    /// Its index on the channel. `None` for transactions, of which none is ever missing.
    pub(crate) index: Option<Index>,
    pub(crate) age: Duration,
    /// True for late-joiner state: it is not judged itself, but its index is the sender's newest.
    pub(crate) is_state: bool,
}

/// Judges one channel at one receiver.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// The newest message of each sender.
    progress: Map<ParticipantId, SenderProgress>,
    /// The last ten seconds, as a ring.
    seconds: [Second; WINDOW],
    /// The present second, on the receiver's clock.
    current: u64,
    /// The last transactions, which may be rare.
    last: LastMessages,
    /// All messages since the channel was opened.
    pub(crate) total: Tally,
    /// Values that newer ones replaced before they were received.
    pub(crate) replaced: u64,
    /// The ages of all received messages.
    pub(crate) latency: Histogram,
    /// The ages of messages in the previous ten seconds and in the present ten seconds.
    latencies: [Histogram; 2],
    /// The share of messages that were lost or late on the leg to the server, in 1/1000, as the
    /// server reported it.
    pub(crate) upstream: u16,
    /// The forecast shares of messages that will be lost or late at best, in 1/1000: because of the
    /// leg to the server, and because of the leg from the server. 0: the target can be met.
    pub(crate) outlook: [u16; 2],
    /// Messages missed beyond [`steered_misses`] since the last [`Judge::take_beyond`].
    beyond: f64,
    /// The sum of the test that [`ABOVE`] describes: misses beyond 1.1 times the target, never
    /// below zero.
    excess: f64,
    state: State,
    /// The time of the last event.
    reported_at: Option<Duration>,
}

/// The messages of one second.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    tally: Tally,
    /// Values received while their sender sent at least at the minimum rate.
    steps: u32,
    /// The time in which their sender sent at least at the minimum rate.
    active: Duration,
}

/// The state of the contract as of the last event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    /// Too many messages were lost or late.
    lossy: bool,
    /// The rate was below the minimum.
    slow: bool,
    /// All judged messages were lost or late.
    all_missed: bool,
    /// Even at best, more messages than the target permits will be lost or late.
    out_of_reach: bool,
}

impl Judge {
    /// Judges a received message. `limit`: the receiver's rate limit; zero: none.
    pub(crate) fn judge(
        &mut self,
        now: Duration,
        qos: &Qos,
        limit: Rate,
        message: ReceivedMessage,
    ) {
        let rate_limit = limit.interval();
        self.turn_to(now);
        let ReceivedMessage { sender, index, age, is_state } = message;
        let born = now.saturating_sub(age);
        let known = self.progress.contains_key(&sender);
        let is_followed = known || self.progress.len() < MAX_SENDERS;
        if let Some(index) = index.filter(|_| is_followed && (is_state || !known)) {
            self.progress.insert(sender, SenderProgress::at(index, born));
        }
        if is_state {
            return;
        }
        let terms = Terms { qos, rate_limit };
        let progress = self.progress.get_mut(&sender).filter(|_| known);
        let verdict = match (progress, index) {
            (Some(progress), Some(index)) => progress.on_message(now, index, age, terms),
            _ => terms.alone(age),
        };
        if index.is_none() {
            self.last.add(now, verdict.tally.late > 0);
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
        self.beyond += missed - steered_misses(qos, judged);
        self.excess = (self.excess + missed - ABOVE * permitted_misses(qos, judged)).max(0.0);
    }

    /// The number of messages that were missed beyond [`steered_misses`] since the last call. Below
    /// zero: fewer were missed.
    pub(crate) fn take_beyond(&mut self) -> f64 {
        core::mem::take(&mut self.beyond)
    }

    /// A sender left the room for good.
    pub(crate) fn forget(&mut self, sender: ParticipantId) {
        self.progress.remove(&sender);
    }

    /// Forgets what was reported about the last transport, because a new one is in use.
    pub(crate) fn forget_path(&mut self) {
        self.outlook = [0; 2];
        self.beyond = 0.0;
    }

    /// The QoS or the rate limit changed: earlier messages do not count any more for the state
    /// (wire W77).
    pub(crate) fn begin_anew(&mut self) {
        self.seconds = Default::default();
        self.latencies = Default::default();
        self.last = LastMessages::default();
        self.beyond = 0.0;
        self.excess = 0.0;
        self.state = State::default();
    }

    /// The messages of the last ten seconds.
    pub(crate) fn recent(&self) -> Tally {
        let mut sum = Tally::default();
        self.seconds.iter().for_each(|second| sum.add(second.tally));
        sum
    }

    /// The messages that decide about the state: those of the last ten seconds, or the last
    /// transactions if those are more.
    fn known(&self) -> Tally {
        if self.is_rare() { self.last.tally() } else { self.recent() }
    }

    fn is_rare(&self) -> bool {
        self.last.tally().judged > self.recent().judged
    }

    /// The quality of the channel at `now`. `None` if no message was judged in the last ten
    /// seconds. `saved`: messages that were received in time only because they were repeated.
    pub(crate) fn quality(
        &mut self,
        now: Duration,
        channel: ChannelNo,
        saved: u64,
    ) -> Option<ChannelQuality> {
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
        (tally.judged > 0).then(|| ChannelQuality {
            channel,
            tally,
            saved,
            rate: self.rate(),
            median: quantile(0.5),
            p99: quantile(0.99),
            latencies,
        })
    }

    /// The rate of values while senders sent at least at the minimum rate. `None` if they did so
    /// for less than [`LEAST_ACTIVE`].
    pub(crate) fn rate(&self) -> Option<Rate> {
        let active: Duration = self.seconds.iter().map(|second| second.active).sum();
        let steps: u64 = self.seconds.iter().map(|second| u64::from(second.steps)).sum();
        let rate = steps * 1_000_000 / (active.as_millis() as u64).max(1);
        (active >= LEAST_ACTIVE)
            .then(|| Rate::from_millihertz(u32::try_from(rate).unwrap_or(u32::MAX)))
    }

    /// The state of the contract as of the last event.
    pub(crate) fn state(&self, qos: &Qos) -> ContractState {
        let target = tolerated(qos);
        let State { lossy, slow, all_missed, out_of_reach } = self.state;
        match (lossy, slow) {
            (true, _) => {
                let missed = self.known().missed_per_mille();
                let breach = Breach::Loss { target, missed, deadline: self.achievable(target) };
                if all_missed || out_of_reach {
                    ContractState::CannotMeet(breach)
                } else {
                    ContractState::Missed(breach)
                }
            }
            (false, _) if out_of_reach => {
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

    /// The new state, if it changed and an event is due. `limit`: the receiver's rate limit; zero:
    /// none.
    pub(crate) fn news(&mut self, now: Duration, qos: &Qos, limit: Rate) -> Option<ContractState> {
        if self.reported_at.is_some_and(|at| now < at + NEWS_SPACING) {
            return None;
        }
        let was_met = self.state(qos) == ContractState::Met;
        let is_forgiven = self.last.forgives(now);
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
        self.reported_at = Some(now);
        Some(state)
    }

    /// True if more messages were missed than are permitted, and this is not due to chance.
    fn exceeds(&self, kind: Kind, missed: u64, allowed: u64) -> bool {
        match kind {
            Kind::Transaction => missed > allowed.saturating_add(allowed / 4 + FEW_LATE),
            Kind::Awareness => self.excess > EXCESS + EXCESS_SHARE * allowed as f64,
        }
    }

    /// The present state. A contract counts as missed when the share of missed messages is well
    /// above the target, and as kept again only when the share is down at the target, so that a
    /// share near the target causes no events.
    fn look(&self, qos: &Qos, limit: Rate) -> State {
        let mut state = self.state;
        let Tally { judged, missed, .. } = self.known();
        let allowed = share_of(judged, tolerated(qos));
        let is_hopeless = missed == judged && self.is_spread();
        let is_enough = judged >= LEAST_MISSED && (is_hopeless || state.lossy);
        if judged >= LEAST_JUDGED || is_enough {
            let is_significant = || is_hopeless || self.exceeds(qos.kind, missed, allowed);
            state.lossy = missed > allowed && (state.lossy || is_significant());
            state.all_missed = state.lossy && missed == judged;
        }
        // Received messages show the state better than a forecast. For sent messages there is only
        // the forecast.
        let [sent, received] = self.outlook;
        let is_known = judged >= LEAST_JUDGED && !state.lossy;
        let expected = sent.max(if is_known { 0 } else { received });
        // The forecast is not exact, so that a quarter above the target is tolerated.
        state.out_of_reach = expected > tolerated(qos).saturating_add(tolerated(qos) / 4);
        let wanted = qos.rate_min;
        let asked_for_less = !limit.is_zero() && limit < wanted;
        state.slow = match self.rate().filter(|_| !wanted.is_zero() && !asked_for_less) {
            Some(rate) if state.slow => rate < wanted,
            Some(rate) => rate.millihertz() < wanted.millihertz() / 10 * 9,
            None => state.slow && !asked_for_less && !wanted.is_zero(),
        };
        state
    }

    /// True if messages were judged in at least [`LEAST_SECONDS`] of the last ten seconds.
    fn is_spread(&self) -> bool {
        self.seconds.iter().filter(|second| second.tally.judged > 0).count() >= LEAST_SECONDS
    }

    /// The share of messages that will miss at best, in 1/1000.
    fn expected(&self) -> u16 {
        self.outlook.into_iter().fold(0, u16::max)
    }

    /// The shortest deadline that would have met the target. `None` if no deadline would have.
    fn achievable(&self, target: u16) -> Option<Duration> {
        let is_rare = self.is_rare();
        let Tally { judged, missed, late } = if is_rare { self.total } else { self.recent() };
        // Messages that were not received are older than any deadline.
        let never = missed.saturating_sub(late);
        let permitted = share_of(judged, target);
        let older = permitted.checked_sub(never)?;
        let [mut ages, current] =
            if is_rare { [self.latency, Histogram::default()] } else { self.latencies };
        ages.merge(&current);
        let received: u64 = ages.buckets().map(|(_, count)| u64::from(count)).sum();
        let mut younger = received.checked_sub(older)?;
        for (ms, count) in ages.buckets() {
            younger = younger.saturating_sub(u64::from(count));
            if younger == 0 {
                return Some(Duration::from_millis(ms.into()));
            }
        }
        None
    }

    /// Corrects the counts after a message that was counted as missed was received in time:
    /// subtracts it from the newest second that counts a message as not received.
    fn find(&mut self) {
        self.total.missed = self.total.missed.saturating_sub(1);
        let back =
            (0..WINDOW as u64).map(|back| (self.current + WINDOW as u64 - back) as usize % WINDOW);
        let holds = |at: &usize| self.seconds[*at].tally.missed > self.seconds[*at].tally.late;
        if let Some(at) = back.into_iter().find(holds) {
            self.seconds[at].tally.missed -= 1;
        }
    }

    /// Moves the window to `now`.
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

/// A share, in 1/1000, of a count.
fn share_of(count: u64, per_mille: u16) -> u64 {
    (u128::from(count) * u128::from(per_mille) / 1000) as u64
}

/// The share of messages that may be lost or late, in 1/1000.
fn tolerated(qos: &Qos) -> u16 {
    match qos.kind {
        Kind::Transaction => LATE_TRANSACTIONS,
        Kind::Awareness => qos.loss,
    }
}

#[cfg(test)]
mod tests;
