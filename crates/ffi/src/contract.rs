//! Whether a channel's QoS is kept.

use groupwire_client::{self as client, Measure};

/// Whether a channel's contract is kept, judged by what this participant receives.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The state.
    pub state: ContractState,
    /// The state as a sentence for people.
    pub text: String,
    /// What Groupwire does to keep the contract, as sentences for people.
    pub measures: Vec<String>,
    /// Messages of the last ten seconds; all 0 in an event.
    pub recent: Tally,
    /// Messages since the channel was opened; all 0 in an event.
    pub total: Tally,
    /// The median age of received messages in milliseconds; 0 if none came.
    pub median_ms: f64,
    /// The age in milliseconds that 1 % of received messages exceed; 0 if none came.
    pub p99_ms: f64,
}

/// Whether a contract is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ContractState {
    /// It is kept, or there were too few messages to tell.
    Met = 0,
    /// The contract was broken in the last ten seconds.
    Missed = 1,
    /// It cannot be kept on the present path.
    CannotMeet = 2,
}

/// A count of judged messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were received, or are known to be missing.
    pub judged: u64,
    /// Of these, messages that were not received, or too late.
    pub missed: u64,
    /// Of these, messages that were received too late.
    pub late: u64,
}

impl ContractState {
    /// The word for programs and logs.
    pub fn word(self) -> &'static str {
        match self {
            ContractState::Met => "met",
            ContractState::Missed => "missed",
            ContractState::CannotMeet => "cannot-meet",
        }
    }
}

impl From<client::Tally> for Tally {
    fn from(tally: client::Tally) -> Tally {
        Tally { judged: tally.judged, missed: tally.missed, late: tally.late }
    }
}

impl Contract {
    fn of(state: client::ContractState, measures: &[Measure]) -> Contract {
        let number = match state {
            client::ContractState::Met => ContractState::Met,
            client::ContractState::Missed(_) => ContractState::Missed,
            client::ContractState::CannotMeet(_) => ContractState::CannotMeet,
        };
        Contract {
            state: number,
            text: state.to_string(),
            measures: measures.iter().map(Measure::to_string).collect(),
            recent: Tally::default(),
            total: Tally::default(),
            median_ms: 0.0,
            p99_ms: 0.0,
        }
    }
}

impl From<client::ContractEvent> for Contract {
    fn from(event: client::ContractEvent) -> Contract {
        Contract::of(event.state, &event.measures)
    }
}

impl From<client::ContractReport> for Contract {
    fn from(report: client::ContractReport) -> Contract {
        let age =
            |share| report.latency.quantile(share).map_or(0.0, |age| age.as_secs_f64() * 1000.0);
        Contract {
            recent: report.recent.into(),
            total: report.total.into(),
            median_ms: age(0.5),
            p99_ms: age(0.99),
            ..Contract::of(report.state, &report.measures)
        }
    }
}
