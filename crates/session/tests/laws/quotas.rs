//! Sessions in which participants have quotas (wire W99). In some of them the quotas are so small
//! that everybody is slowed down; in the others one floods the room, and nobody else may be slowed
//! down.

use std::time::Duration;

use groupwire_session::{Quota, Quotas};

use crate::random::Random;

/// The quotas of a session, and who floods it.
pub(crate) struct Play {
    pub(crate) random: Random,
    pub(crate) quotas: Quotas,
    /// The number of messages that the flooder still sends; 0 without a flooder.
    pub(crate) left: u64,
}

/// The participant that floods the room: the second one that joined.
pub(crate) const FLOODER: usize = 1;

/// The most messages that one of the others sends in a session: 8 in each of 47 steps, and each
/// presence counts, too.
const MOST_OF_OTHERS: u64 = 47 * 9;

/// The messages of the others within this time are always within their quota.
const BURST: Duration = Duration::from_secs(2);

impl Play {
    /// For a session of at most `most` people.
    pub(crate) fn new(mut random: Random, most: u64) -> Self {
        // With this rate, all messages of another participant to all people fit into the burst.
        let rate = MOST_OF_OTHERS * most / BURST.as_secs();
        let own = Quota { deliveries: rate, ..Quota::NONE };
        let (participant, room, left) = match random.below(3) {
            0 => {
                let small = Quota { bytes: 65_536, deliveries: 10 * most };
                (small, Quota { bytes: 200_000, deliveries: 20 * most }, 0)
            }
            1 => (own, Quota::NONE, 4 * MOST_OF_OTHERS),
            // An equal share of the room's quota is as much as an own quota, and the room's quota
            // is used up by few messages.
            _ => {
                let room = Quota { deliveries: rate * most, ..Quota::NONE };
                (Quota::NONE, room, 2 * MOST_OF_OTHERS * most.min(8))
            }
        };
        let burst = if left == 0 { Duration::from_secs(1) } else { BURST };
        Play { random, quotas: Quotas { participant, room, burst }, left }
    }
}
