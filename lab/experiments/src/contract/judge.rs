//! Judges whether channels kept their contracts, by the messages that the applications at both ends
//! saw.

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::Kind;

use super::notes::Arrival;
use super::script::Script;
use crate::statistics::{Summary, percentile};

/// A stream has to keep the least rate only while its interval is at most this many times that of
/// the least rate.
const SLACK: f64 = 1.5;

/// The fates of a channel's messages, from all senders to all receivers that were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Verdict {
    /// Deliveries that were due: messages times receivers.
    pub(super) addressed: usize,
    /// Deliveries that did not come by the deadline, and were not replaced by a newer value of
    /// their key in time.
    pub(super) missed: usize,
    /// Deliveries that never came, nor a newer value of their key.
    pub(super) never: usize,
    /// Deliveries that came, whether in time or not.
    pub(super) arrived: usize,
    /// Latencies in ms of the message or of a newer value that replaced it; infinite if neither
    /// came.
    latencies: Vec<f64>,
    /// Seconds in which a stream had at least the least rate, times receivers.
    busy: f64,
    /// Messages sent within these seconds.
    within: usize,
}

impl Verdict {
    /// Adds the verdict of another session.
    pub(super) fn add(&mut self, other: Verdict) {
        self.addressed += other.addressed;
        self.missed += other.missed;
        self.never += other.never;
        self.arrived += other.arrived;
        self.busy += other.busy;
        self.within += other.within;
        self.latencies.extend(other.latencies);
        self.latencies.sort_by(f64::total_cmp);
    }

    pub(super) fn mer(&self) -> f64 {
        self.missed as f64 / self.addressed.max(1) as f64
    }

    /// The latency in ms that `percent` of deliveries do not exceed.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        percentile(&self.latencies, percent)
    }

    /// The mean divergence of the latencies of what came from their mean, in ms, which the WEB
    /// paper calls jitter.
    pub(super) fn jitter(&self) -> f64 {
        let came = self.latencies.iter().copied().filter(|one| one.is_finite());
        Summary::of(&came.collect::<Vec<_>>()).divergence
    }

    /// The rate at which the streams sent within these seconds, in messages per second.
    pub(super) fn offered(&self) -> f64 {
        if self.busy > 0.0 { self.within as f64 / self.busy } else { 0.0 }
    }

    /// Received messages per second, if losses are spread evenly over all messages.
    pub(super) fn rate(&self) -> f64 {
        self.offered() * self.arrived as f64 / self.addressed.max(1) as f64
    }
}

/// Judges each channel by the messages from senders to receivers for which `is_asked(receiver,
/// sender)` is true.
pub(super) fn judge(
    script: &Script,
    arrivals: &[Vec<Arrival>],
    is_asked: impl Fn(usize, usize) -> bool,
) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::default(); script.channels.len()];
    for (receiver, arrivals) in arrivals.iter().enumerate() {
        let mut first: BTreeMap<(usize, usize), Duration> = BTreeMap::new();
        for one in arrivals {
            first.entry(one.message).or_insert(one.at);
        }
        let senders = (0..script.actions.len()).filter(|sender| *sender != receiver);
        for sender in senders.filter(|sender| is_asked(receiver, *sender)) {
            judge_sender(script, sender, &first, &mut verdicts);
        }
    }
    for verdict in &mut verdicts {
        verdict.latencies.sort_by(f64::total_cmp);
    }
    verdicts
}

fn judge_sender(
    script: &Script,
    sender: usize,
    first: &BTreeMap<(usize, usize), Duration>,
    verdicts: &mut [Verdict],
) {
    // From the newest message to the oldest: the time at which a value of each key, or a newer one,
    // had come.
    let mut there: BTreeMap<(&str, u32), Duration> = BTreeMap::new();
    let mut before: BTreeMap<usize, Duration> = BTreeMap::new();
    for (number, action) in script.actions[sender].iter().enumerate().rev() {
        let channel = &script.channels[action.channel];
        let verdict = &mut verdicts[action.channel];
        let itself = first.get(&(sender, number)).copied();
        let mut met = itself;
        if channel.conflates() {
            let newest = there.entry((channel.wire, action.key)).or_insert(Duration::MAX);
            *newest = itself.map_or(*newest, |at| at.min(*newest));
            met = Some(*newest).filter(|at| *at < Duration::MAX);
        }
        let latency = met.map(|at| at.saturating_sub(action.at));
        verdict.addressed += 1;
        verdict.arrived += usize::from(itself.is_some());
        verdict.never += usize::from(met.is_none());
        verdict.missed += usize::from(latency.is_none_or(|one| one > channel.deadline()));
        verdict.latencies.push(latency.map_or(f64::INFINITY, |one| one.as_secs_f64() * 1e3));
        let least = channel.qos.rate_min.hertz();
        if channel.qos.kind == Kind::Awareness
            && let Some(next) = before.insert(action.channel, action.at)
            && (next - action.at).as_secs_f64() * least < SLACK
        {
            verdict.busy += (next - action.at).as_secs_f64();
            verdict.within += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::channels::pointers;
    use crate::contract::hand::Hands;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_newer_value_stands_for_an_older_one_if_it_comes_in_time() {
        let hands = Hands::generated(1);
        let script = Script::pointers(pointers(100, 50), &hands, 1, (2, 1), 2000 * MS);
        let actions = &script.actions[0];
        let arrival =
            |number: usize| Arrival { at: actions[number].at + 30 * MS, message: (0, number) };
        // The third message and all after the fifth are lost; the fourth comes twice.
        let arrivals =
            vec![Vec::new(), vec![arrival(0), arrival(1), arrival(3), arrival(3), arrival(4)]];
        let verdict = &judge(&script, &arrivals, |_, _| true)[0];
        assert_eq!((verdict.addressed, verdict.arrived), (actions.len(), 4));
        assert_eq!(verdict.missed, actions.len() - 5);
        assert_eq!(verdict.never, verdict.missed);
        assert!(verdict.percentile(0.0) >= 30.0 && verdict.percentile(100.0).is_infinite());
        assert!((25.0..30.1).contains(&verdict.offered()), "{}", verdict.offered());
    }
}
