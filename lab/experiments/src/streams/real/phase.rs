//! The paper's conditions: a network, and the load on it and on both ends.

use std::fmt;

use super::network::{Busy, FAST, Network, SLOW};
use super::processor::Core;
use crate::emulator::{EmulatorError, Namespace};
use crate::streams::Options;

/// The most dummy processes of a quick experiment.
const QUICK_DUMMIES: usize = 20;

/// The load of a processor (paper, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Busyness {
    Idle,
    Medium,
    Heavy,
    VeryHeavy,
}

/// A network, and the load on it and on both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Phase {
    /// The traffic on the fast network; `None`: the slow network.
    pub(in super::super) fast: Option<Busy>,
    pub(in super::super) server: Busyness,
    pub(in super::super) client: Busyness,
}

impl Busyness {
    /// The number of dummy processes, as in the paper; in a quick experiment at most some.
    pub(super) fn dummies(self, core: Core, options: &Options) -> usize {
        self.of_paper(core).min(options.common.quick_or(QUICK_DUMMIES, usize::MAX))
    }

    fn of_paper(self, core: Core) -> usize {
        match (self, core) {
            (Busyness::Idle, _) => 0,
            (Busyness::Medium, Core::Client) => 4,
            (Busyness::Medium, Core::Server) | (Busyness::Heavy, Core::Client) => 8,
            (Busyness::Heavy, Core::Server) => 20,
            (Busyness::VeryHeavy, _) => 180,
        }
    }

    /// The share of a processor that is left, if it is divided evenly.
    fn left(self, core: Core) -> f64 {
        1.0 / (self.of_paper(core) as f64 + 1.0)
    }
}

impl Phase {
    /// The network.
    ///
    /// # Errors
    /// Where it cannot be set up.
    pub(super) fn network(&self, namespace: &Namespace) -> Result<Network, EmulatorError> {
        match self.fast {
            Some(busy) => Network::fast(namespace, busy),
            None => Network::slow(namespace),
        }
    }

    /// The rate that the network leaves, in Mbit/s, according to the paper.
    pub(in super::super) fn mbit(&self) -> f64 {
        match self.fast {
            Some(Busy::Idle) => FAST,
            Some(busy) => busy.left(),
            None => SLOW,
        }
    }

    /// The shares of the server's and the client's processors that are left, if each is divided
    /// evenly.
    pub(in super::super) fn left(&self) -> [f64; 2] {
        [self.server.left(Core::Server), self.client.left(Core::Client)]
    }
}

impl fmt::Display for Busyness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Busyness::Idle => "idle",
            Busyness::Medium => "medium",
            Busyness::Heavy => "heavy",
            Busyness::VeryHeavy => "veryheavy",
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = match self.fast {
            None => "slow",
            Some(Busy::Idle) => "fast",
            Some(Busy::Medium) => "fast-medium",
            Some(Busy::Heavy) => "fast-heavy",
        };
        write!(f, "{network}/{}/{}", self.server, self.client)
    }
}
