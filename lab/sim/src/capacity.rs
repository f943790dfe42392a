//! The capacity of a link: unlimited, a fixed rate, or that of a recorded cellular link.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of one delivery opportunity of a trace, as mahimahi counts them.
const OPPORTUNITY: usize = 1500;

/// The most opportunities of a trace: an hour at 100 Mbit/s.
const MAX_OPPORTUNITIES: usize = 30_000_000;

/// How fast a link sends.
#[derive(Debug, Clone, Default)]
pub enum Capacity {
    /// Every packet is sent at once.
    #[default]
    Unlimited,
    /// This number of bytes per second, which must be above 0.
    BytesPerSecond(f64),
    /// As a recorded link could send, from the trace's start at time 0. A trace that ends starts
    /// again.
    Trace(Arc<CapacityTrace>),
}

impl Capacity {
    /// A rate in units of 1000 bits per second: 56 kbit/s are 7,000 bytes per second.
    pub fn kbit(kbit_per_second: f64) -> Self {
        Capacity::BytesPerSecond(kbit_per_second * 125.0)
    }
}

/// The times at which a recorded link could send one packet of 1500 bytes each, in the format of
/// [mahimahi](http://mahimahi.mit.edu): a time in ms per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapacityTrace {
    /// The times in ms, in ascending order.
    opportunities: Vec<u32>,
}

/// Why a text is not a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct WrongTrace {
    /// The number of the wrong line; the first line is 1.
    pub line: usize,
    /// The reason why the line is wrong.
    pub why: &'static str,
}

/// Parses a text with a time in ms per line; empty lines do not count.
impl FromStr for CapacityTrace {
    type Err = WrongTrace;

    fn from_str(text: &str) -> Result<Self, WrongTrace> {
        let wrong = |line, why| WrongTrace { line, why };
        let mut opportunities: Vec<u32> = Vec::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty()) {
            let time = text.trim().parse();
            let time = time.map_err(|_| wrong(line, "a time in whole milliseconds is due"))?;
            if opportunities.last().is_some_and(|last| *last > time) {
                return Err(wrong(line, "times never go back"));
            }
            if opportunities.len() >= MAX_OPPORTUNITIES {
                return Err(wrong(line, "a trace has at most 30,000,000 lines"));
            }
            opportunities.push(time);
        }
        match opportunities.last() {
            Some(1..) => Ok(CapacityTrace { opportunities }),
            _ => Err(wrong(1, "a trace lasts longer than 0 ms")),
        }
    }
}

impl CapacityTrace {
    /// The length of the trace, after which it starts again.
    pub fn duration(&self) -> Duration {
        Duration::from_millis(u64::from(*self.opportunities.last().unwrap_or(&0)))
    }

    /// The time of the n-th opportunity.
    fn time(&self, n: u64) -> Duration {
        let count = self.opportunities.len() as u64;
        let within = Duration::from_millis(u64::from(self.opportunities[(n % count) as usize]));
        self.duration() * u32::try_from(n / count).unwrap_or(u32::MAX) + within
    }

    /// The number of the first opportunity at `now` or later.
    fn from(&self, now: Duration) -> u64 {
        // Rounded up: a packet that is sent within a millisecond has missed the opportunities at
        // its start.
        let now = now.as_nanos().div_ceil(1_000_000) as u64;
        let period = (self.duration().as_millis() as u64).max(1);
        // The end of a round of the trace belongs to that round, not to the next one.
        let round = now.saturating_sub(1) / period;
        let within = now - round * period;
        let before = self.opportunities.partition_point(|time| u64::from(*time) < within);
        round * self.opportunities.len() as u64 + before as u64
    }
}

/// The sending end of a link, which computes when each packet has left.
#[derive(Debug, Clone)]
pub(crate) struct Transmitter {
    capacity: Capacity,
    /// When all accepted packets will have left.
    idle: Duration,
    /// With a trace: the number of the first unused opportunity, and the bytes left in the one
    /// before it.
    next: u64,
    left: usize,
}

impl Transmitter {
    pub(crate) fn new(capacity: Capacity) -> Self {
        Transmitter { capacity, idle: Duration::ZERO, next: 0, left: 0 }
    }

    /// Changes the capacity for packets that are sent from now on.
    pub(crate) fn change(&mut self, capacity: Capacity) {
        self.capacity = capacity;
    }

    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(self.capacity, Capacity::Unlimited)
    }

    /// Sends a packet of `len` bytes after all earlier ones, and returns when it has left. If that
    /// takes longer than `patience`, sends nothing and returns `None`.
    pub(crate) fn send(
        &mut self,
        now: Duration,
        len: usize,
        patience: Option<Duration>,
    ) -> Option<Duration> {
        let (mut next, mut left) = (self.next, self.left);
        let leaves = match &self.capacity {
            Capacity::Unlimited => return Some(now),
            Capacity::BytesPerSecond(rate) => {
                // With a rate near zero a packet takes nearly forever, but the time does not
                // overflow.
                let seconds = (len as f64 / rate).clamp(0.0, 1e9);
                self.idle.max(now) + Duration::from_secs_f64(seconds)
            }
            Capacity::Trace(trace) => {
                if self.idle < now {
                    left = 0;
                }
                let more = len.saturating_sub(left).div_ceil(OPPORTUNITY);
                if more > 0 {
                    // Opportunities that passed while no packet waited are lost.
                    next = next.max(trace.from(now)) + more as u64;
                }
                left = left + more * OPPORTUNITY - len;
                trace.time(next.saturating_sub(1))
            }
        };
        if patience.is_some_and(|patience| leaves.saturating_sub(now) > patience) {
            return None;
        }
        (self.idle, self.next, self.left) = (leaves, next, left);
        Some(leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn trace(text: &str) -> CapacityTrace {
        text.parse().unwrap()
    }

    #[test]
    fn a_trace_gives_a_packet_per_line_and_starts_again() {
        let mut sender = Transmitter::new(Capacity::Trace(trace("2\n5\n5\n10\n").into()));
        let mut sends = |now: u32, len| sender.send(MS * now, len, None).unwrap().as_millis();
        assert_eq!(sends(0, 1500), 2);
        assert_eq!((sends(0, 1500), sends(0, 1500), sends(0, 1500)), (5, 5, 10));
        assert_eq!(sends(0, 1500), 12, "the second round starts after 10 ms");
        // Two packets share an opportunity. The third takes its rest and a part of the next one;
        // two more take that one's rest.
        assert_eq!((sends(13, 700), sends(13, 700), sends(13, 700)), (15, 15, 15));
        assert_eq!((sends(14, 800), sends(14, 100), sends(14, 100)), (15, 15, 20));
        // The rest of an opportunity is lost once the opportunity has passed.
        assert_eq!(sends(21, 100), 22);
        assert_eq!(sends(1_000_000, 100), 1_000_000, "of the round that ends there");
        assert_eq!(sends(1_000_001, 100), 1_000_002);
    }

    #[test]
    fn a_saturated_trace_carries_its_mean_rate() {
        let trace = trace("0\n1\n1\n7\n20\n");
        // Five opportunities in 20 ms.
        let rate = (5 * OPPORTUNITY) as f64 / 0.02;
        let mut sender = Transmitter::new(Capacity::Trace(trace.into()));
        let mut last = Duration::ZERO;
        (0..10_000).for_each(|_| last = sender.send(Duration::ZERO, 400, None).unwrap());
        let measured = 4e6 / last.as_secs_f64();
        assert!((measured / rate - 1.0).abs() < 0.01, "{measured} of {rate}");
    }

    #[test]
    fn a_rate_is_held_and_patience_ends() {
        let mut sender = Transmitter::new(Capacity::kbit(56.0));
        assert_eq!(sender.send(MS, 70, None), Some(11 * MS));
        assert_eq!(sender.send(MS, 70, Some(20 * MS)), Some(21 * MS));
        assert_eq!(sender.send(MS, 70, Some(20 * MS)), None);
        assert_eq!(
            sender.send(2 * MS, 70, Some(30 * MS)),
            Some(31 * MS),
            "the refused left no mark"
        );
        assert_eq!(sender.send(100 * MS, 70, None), Some(110 * MS));
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for (text, at) in [("", 1), ("0\n", 1), ("1\nx\n", 2), ("5\n4\n", 2), ("-1\n", 1)] {
            let error = text.parse::<CapacityTrace>().unwrap_err();
            assert_eq!(error.line, at, "{text:?}: {error}");
        }
    }
}
