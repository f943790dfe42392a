//! What a node has to be told, and times.

use alloc::vec::Vec;
use core::time::Duration;

use crate::owner::{NodeName, Owner};

/// What a node has to be told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The node's name, which no other node has.
    pub node: NodeName,
    /// Where others reach the node; opaque, at most [`MAX_ADDRESS`](crate::MAX_ADDRESS) bytes.
    pub address: Vec<u8>,
    /// A number that differs for each process that ever ran under this name: a random one.
    pub incarnation: u64,
    /// Shards of the deployment, fixed at its creation, at most [`MAX_SHARDS`](crate::MAX_SHARDS).
    pub shards: u16,
    /// How long this node waits for what.
    pub timing: Timing,
}

impl Config {
    pub(crate) fn owner(&self) -> Owner {
        Owner {
            node: self.node.clone(),
            incarnation: self.incarnation,
            address: self.address.clone(),
        }
    }
}

/// How long a node waits for what. No promise depends on these times, only how soon a shard has an
/// owner again.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two beats, and between two listings of the nodes.
    pub beat: Duration,
    /// A node whose beat did not change for this long is dead.
    pub dead: Duration,
    /// An owner whose log did not answer for this long says nothing more.
    pub cut_off: Duration,
    /// A node that came has to live this long before shards move to it, so that one that comes and
    /// goes moves nothing.
    pub settle: Duration,
    /// How long nodes that cannot continue a damaged log wait for one that can, which may be
    /// restarting, before one of them takes the shard with what it has.
    pub mend: Duration,
    /// Between two reads of a log that has nothing new.
    pub poll: Duration,
    /// Before the first retry; each further one waits twice as long, up to [`Self::poll`].
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            beat: Duration::from_secs(1),
            dead: Duration::from_secs(3),
            cut_off: Duration::from_secs(5),
            settle: Duration::from_secs(10),
            mend: Duration::from_secs(60),
            poll: Duration::from_secs(1),
            retry: Duration::from_millis(50),
        }
    }
}

/// The two clocks of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Time since any moment; it never decreases.
    pub monotonic: Duration,
    /// The wall clock in milliseconds since 1970: written into records, never compared.
    pub wall: u64,
}
