//! The settings of a stream, which is cut into blocks that are compressed one by one. The policy
//! chooses how each block is compressed; a candidate is one way to do that.

use alloc::boxed::Box;
use alloc::vec::Vec;

use groupwire_codecs::Costs;

use crate::{Adaptive, Always, Candidate, Policy};

/// The settings of one end of a stream. The two ends need not have the same settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The largest block that this end sends, in bytes, 1 KiB to 1 MiB. It accepts blocks of up to
    /// 1 MiB.
    pub block: usize,
    /// The history that this end keeps of each direction, in bytes, 0 to 1 MiB: the last bytes,
    /// which codecs may use as their dictionary. 0 for none.
    pub history: usize,
    /// How codecs are chosen.
    pub profile: Profile,
}

/// How the candidate (codec and level) of each block is chosen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Profile {
    /// Chooses by measurements of the running stream.
    Adaptive {
        /// The candidates to choose from. If empty, those of [`Adaptive::candidates`].
        candidates: Vec<Candidate>,
        /// The costs of codecs on this machine, used until blocks have been measured.
        costs: Costs,
    },
    /// Always chooses the same candidate.
    Always(Candidate),
}

impl Settings {
    /// The adaptive policy with blocks of 64 KiB and a history of 128 KiB.
    pub fn adaptive(costs: Costs) -> Self {
        let profile = Profile::Adaptive { candidates: Vec::new(), costs };
        Settings { block: 64 << 10, history: 128 << 10, profile }
    }

    /// The same candidate for every block, with the sizes of the adaptive policy.
    pub fn always(candidate: Candidate) -> Self {
        Settings { block: 64 << 10, history: 128 << 10, profile: Profile::Always(candidate) }
    }

    /// Creates the policy, for use inside another policy with
    /// [`Duplex::with_policy`](crate::Duplex::with_policy).
    pub fn policy(&self) -> Box<dyn Policy> {
        match &self.profile {
            Profile::Adaptive { candidates, costs } => {
                Box::new(Adaptive::new(candidates, costs, self.block))
            }
            Profile::Always(candidate) => Box::new(Always(*candidate)),
        }
    }
}
