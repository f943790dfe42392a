//! Which program brings a lost state back: each has claimed the length of its state, and the first
//! claim of the greatest length in the room's order decides.

use crate::ordered::Ordered;

/// A participant's claim: the length of the state that it remembers.
#[derive(Debug, Clone, Copy)]
struct Claim {
    is_own: bool,
    length: f64,
}

/// The greatest claim of each participant since the server lost the room, in the room's order.
#[derive(Debug, Default)]
pub(crate) struct Claims(Ordered<u64, Claim>);

impl Claims {
    /// Takes a claim. Returns false if the participant has claimed as much before.
    pub(crate) fn take(&mut self, sender: u64, is_own: bool, length: f64) -> bool {
        if self.0.get(&sender).is_some_and(|before| length <= before.length) {
            return false;
        }
        self.0.remove(&sender);
        self.0.insert(sender, Claim { is_own, length });
        true
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The length of this program's claim, if it is the one that counts among those who are here.
    pub(crate) fn is_first(&self, length: f64, is_here: impl Fn(u64) -> bool) -> bool {
        let here = || self.0.iter().filter(|(sender, _)| is_here(**sender)).map(|(_, claim)| claim);
        let longest = here().map(|claim| claim.length).fold(f64::NEG_INFINITY, f64::max);
        longest == length
            && here().find(|claim| claim.length == longest).is_some_and(|claim| claim.is_own)
    }
}
