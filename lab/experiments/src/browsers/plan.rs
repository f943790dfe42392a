//! The numbers of messages and trials of each measurement.

use super::protocol::App;
use super::row::{Direction, Part};
use super::{Measure, Network, Options};
use crate::options::is_wanted;

/// The message size of the paper (its Methods), and the size of a pointer's message.
pub(super) const STANDARD: usize = 500;
pub(super) const POINTER: usize = 20;

/// Message sizes from 50 bytes to 50 KB, as in the paper's Figure 3. The paper judges by 1000.
pub(super) const SIZES: [usize; 7] = [50, 200, STANDARD, 1000, 5000, 20_000, 50_000];

/// The numbers of participants with which the paper's applications run.
const PARTICIPANTS: [usize; 3] = [2, 4, 7];

/// The paper's servers collected messages for this time.
const PAPERS_TICK_MS: u64 = 40;

/// The participants on a lossy network, as in the figure for others' software.
const MANY: usize = 10;

/// The bytes of a numbered message beyond its payload: headers of packets, and an HTTP request for
/// several of them.
const BEYOND: f64 = 100.0;
/// The most bytes of the messages of a trial: the room's log has 16 MiB, beyond which a receiver
/// that is behind would miss the oldest.
const TRIAL_BYTES: usize = 12 << 20;

/// Links with fewer bytes per second are narrow.
const NARROW: f64 = 16e3;

/// How rates of numbered messages are measured, which all have to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trials {
    /// The messages of a trial, and the number of trials: those of the paper.
    messages: u32,
    pub(super) most: u32,
    /// The number of trials after which the standard error may end them.
    pub(super) least: u32,
    /// The standard error, as a share of the mean, that is small enough.
    pub(super) good: f64,
    /// The time in ms of a trial, and after which no further one begins.
    trial_ms: f64,
    pub(super) all_ms: f64,
}

impl Trials {
    /// The messages of a trial: those of the paper, or as many as the room keeps and the link
    /// carries in time.
    pub(super) fn messages(&self, network: Network, direction: Direction, size: usize) -> u32 {
        let carried = network.bytes_per_second(direction) * self.longest(network, direction);
        let carried = (carried / (size as f64 + BEYOND)).min(f64::from(self.messages));
        (carried as u32).min((TRIAL_BYTES / size) as u32).max(2)
    }

    /// The messages of a trial, if those that went ahead had this rate. They meet TCP's slow start,
    /// so the rate may double.
    pub(super) fn at_rate(
        &self,
        messages: u32,
        rate: f64,
        (network, direction): (Network, Direction),
    ) -> u32 {
        messages.min((2.0 * rate * self.longest(network, direction)) as u32).max(2)
    }

    /// The time of a trial in seconds. On an uplink of a few kbit/s it is longer: a burst that is
    /// larger than the queue would decide on the rate.
    fn longest(&self, network: Network, direction: Direction) -> f64 {
        let is_narrow = network.bytes_per_second(direction) < NARROW;
        self.trial_ms / 1e3 * if is_narrow { 6.0 } else { 1.0 }
    }
}

/// The numbers of messages and trials, and their time limits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) part: Part,
    measures: Vec<Measure>,
    /// Of the part `paper`.
    pub(super) numbered: Trials,
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
        let (part, measures) = (options.part, options.measures.clone());
        let is_paper = part == Part::Paper;
        let quick =
            Trials { messages: 200, most: 1, least: 1, good: 1.0, trial_ms: 150.0, all_ms: 1000.0 };
        let whole = Trials {
            messages: 10_000,
            most: 10,
            least: 10,
            good: 0.0,
            trial_ms: f64::INFINITY,
            all_ms: f64::INFINITY,
        };
        let usual = Trials { least: 3, good: 0.02, trial_ms: 1000.0, all_ms: 4000.0, ..whole };
        match options.common.quick {
            true => Plan {
                part,
                numbered: quick,
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
                part,
                numbered: if options.whole { whole } else { usual },
                measures,
                overheads: if is_paper { 50 } else { 250 },
                apart_ms: 40.0,
                trials: 10,
                messages: 10_000,
                sending_ms: 20_000.0,
                receiving_ms: 1000.0,
                playing_ms: if is_paper { 2000.0 } else { 10_000.0 },
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
        if self.part == Part::Paper && tick_ms != PAPERS_TICK_MS {
            return Vec::new();
        }
        // All members reach another machine at one address, to which a browser opens no more than
        // six connections of HTTP: enough for two members.
        let counts = if network == Network::Far { &PARTICIPANTS[..1] } else { &PARTICIPANTS };
        let both = counts.iter().map(|count| (*count, vec![App::Whiteboard, App::Puzzle]));
        let many = (network == Network::Lossy && tick_ms == 0).then(|| (MANY, vec![App::Pointer]));
        both.chain(many).collect()
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
    fn a_trial_has_no_more_than_link_and_room_take() {
        let trials = Plan::of(&parsed("--part paper")).numbered;
        let messages = |network, direction, size| trials.messages(network, direction, size);
        assert_eq!(messages(Network::Lan, Direction::Down, STANDARD), 10_000);
        assert_eq!(messages(Network::Man, Direction::Down, STANDARD), 1041);
        assert_eq!(messages(Network::Man, Direction::Up, STANDARD), 80);
        assert_eq!(messages(Network::Lan, Direction::Down, 50_000), 249);
        let [lan, man] = [Network::Lan, Network::Man].map(|network| (network, Direction::Up));
        assert_eq!(trials.at_rate(10_000, 500.0, lan), 1000);
        assert_eq!(trials.at_rate(80, 5.0, man), 60);
        let whole = Plan::of(&parsed("--part paper --whole")).numbered;
        assert_eq!(whole.messages(Network::Man, Direction::Up, STANDARD), 10_000);
        assert_eq!(whole.at_rate(10_000, 5.0, man), 10_000);
    }

    #[test]
    fn the_papers_servers_collect_for_40_ms() {
        let plan = Plan::of(&parsed("--part paper"));
        assert!(plan.plays(Network::Lan, 0).is_empty());
        assert_eq!(plan.plays(Network::Lan, 40).len(), PARTICIPANTS.len());
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
