//! The numbers of messages and trials of each measurement.

use super::protocol::App;
use super::{Measure, Network, Options};
use crate::options::is_wanted;

/// The message size of the paper (its Methods), and the size of a pointer's message.
pub(super) const STANDARD: usize = 500;
pub(super) const POINTER: usize = 20;

/// Message sizes from 50 bytes to 50 KB, as in the paper's Figure 3. The paper judges by 1000.
pub(super) const SIZES: [usize; 7] = [50, 200, STANDARD, 1000, 5000, 20_000, 50_000];

/// The numbers of participants with which the paper's applications run.
const PARTICIPANTS: [usize; 3] = [2, 4, 7];

/// The participants on a lossy network, as in the figure for others' software.
const MANY: usize = 10;

/// The numbers of messages and trials, and their time limits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    measures: Vec<Measure>,
    /// The number of messages whose overhead is counted, and their interval.
    pub(super) overheads: u32,
    pub(super) apart_ms: f64,
    /// Trials of send and receive rates.
    pub(super) trials: u32,
    /// Messages of a trial, and the longest it takes.
    pub(super) messages: u32,
    pub(super) sending_ms: f64,
    /// The time in ms for which distinct arrivals are counted.
    pub(super) receiving_ms: f64,
    /// How long an application runs.
    pub(super) playing_ms: f64,
    /// The wait beyond the round trip, for packets that are under way or sent again.
    pub(super) patience_ms: f64,
}

impl Plan {
    pub(super) fn of(options: &Options) -> Self {
        let measures = options.measures.clone();
        match options.common.quick {
            true => Plan {
                measures,
                overheads: 8,
                apart_ms: 20.0,
                trials: 1,
                messages: 200,
                sending_ms: 1500.0,
                receiving_ms: 120.0,
                playing_ms: 160.0,
                patience_ms: 500.0,
            },
            false => Plan {
                measures,
                overheads: 250,
                apart_ms: 40.0,
                trials: 10,
                messages: 10_000,
                sending_ms: 20_000.0,
                receiving_ms: 1000.0,
                playing_ms: 10_000.0,
                patience_ms: 2000.0,
            },
        }
    }

    pub(super) fn wants(&self, measure: Measure) -> bool {
        is_wanted(&self.measures, &measure)
    }

    pub(super) fn wants_loads(&self) -> bool {
        use Measure::{OverheadConnection, OverheadMessage, ReceiveRate, SendRate};
        [OverheadConnection, OverheadMessage, ReceiveRate, SendRate]
            .iter()
            .any(|one| self.wants(*one))
    }

    /// Messages of a trial from the participant: no more than a narrow line carries in a fifth of
    /// the duration.
    pub(super) fn messages_up(&self, network: Network, size: usize) -> u32 {
        /// An estimate of the overhead of each message: an HTTP request for a few of them.
        const HEADERS: f64 = 200.0;
        let Some(rate) = network.narrow() else { return self.messages };
        let carried = rate * self.sending_ms / 5000.0 / (size as f64 + HEADERS);
        self.messages.min(carried as u32).max(2)
    }

    /// The applications that run in rooms of growing size. One room serves several, until more
    /// members join.
    pub(super) fn plays(&self, network: Network, tick_ms: u64) -> Vec<(usize, Vec<App>)> {
        if !self.wants(Measure::Latency) && !self.wants(Measure::Jitter) {
            return Vec::new();
        }
        let both = PARTICIPANTS.map(|count| (count, vec![App::Whiteboard, App::Puzzle]));
        let many = (network == Network::Lossy && tick_ms == 0).then(|| (MANY, vec![App::Pointer]));
        both.into_iter().chain(many).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parsed;

    #[test]
    fn a_narrow_line_is_given_no_more_than_it_carries() {
        let plan = Plan::of(&parsed(""));
        assert_eq!(plan.messages_up(Network::Lan, STANDARD), 10_000);
        let narrow = plan.messages_up(Network::Man, STANDARD);
        assert!((30..60).contains(&narrow), "{narrow}");
        let quick = Plan::of(&parsed("--quick"));
        assert_eq!(quick.messages_up(Network::Man, STANDARD), 3);
    }

    #[test]
    fn quick_keeps_every_row() {
        let quick = Plan::of(&parsed("--quick"));
        let full = Plan::of(&parsed(""));
        for network in Network::USUAL {
            assert_eq!(quick.plays(network, 0), full.plays(network, 0));
        }
    }
}
