//! What a stream is made with.

use alloc::boxed::Box;
use alloc::vec::Vec;

use groupwire_codecs::Costs;

use crate::{Ace2005, Adaptive, Always, Candidate, Policy, Training};

/// What both ends of a stream are made with. They need not be the same.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The most octets of a block that we send, 1 KiB to 1 MiB. We take blocks of up to 1 MiB.
    pub block: usize,
    /// Octets of history that we keep in each direction, 0 to 1 MiB; 0 for none.
    pub history: usize,
    /// How codecs are chosen.
    pub profile: Profile,
}

/// How codecs are chosen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Profile {
    /// By what is measured while the stream flows.
    Adaptive {
        /// What may be chosen; empty for [`Adaptive::candidates`].
        candidates: Vec<Candidate>,
        /// What codecs cost here, before anything is measured.
        costs: Costs,
    },
    /// As the paper did in 2005, after a training run. Its blocks have 32 KiB and its history is none.
    Ace2005(Training),
    /// Always the same.
    Always(Candidate),
}

impl Settings {
    /// Adaptive, 64 KiB blocks, 128 KiB of history.
    pub fn adaptive(costs: Costs) -> Self {
        let profile = Profile::Adaptive { candidates: Vec::new(), costs };
        Settings { block: 64 << 10, history: 128 << 10, profile }
    }

    /// Every block by the same candidate.
    pub fn always(candidate: Candidate) -> Self {
        Settings { block: 64 << 10, history: 128 << 10, profile: Profile::Always(candidate) }
    }

    /// The paper's system: blocks of 32 KiB, no history.
    pub fn ace2005(training: Training) -> Self {
        Settings { block: 32 << 10, history: 0, profile: Profile::Ace2005(training) }
    }

    /// What chooses so: for another policy that asks it, and for [`Duplex::with_policy`](crate::Duplex::with_policy).
    pub fn policy(&self) -> Box<dyn Policy> {
        match &self.profile {
            Profile::Adaptive { candidates, costs } => {
                Box::new(Adaptive::new(candidates, costs, self.block))
            }
            Profile::Ace2005(training) => Box::new(Ace2005::new(training.clone(), self.block)),
            Profile::Always(candidate) => Box::new(Always(*candidate)),
        }
    }
}
