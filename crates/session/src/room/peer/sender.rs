//! What the room remembers of a participant as a sender of messages.

use alloc::collections::BTreeMap;

use crate::room::accounting::upstream::Upstream;
use crate::seen::Seen;
use crate::{ChannelNo, Counter};

/// See the [module](self).
#[derive(Default)]
pub(in crate::room) struct Sender {
    /// Recognises awareness messages of this participant that came before.
    pub(super) seen: Seen<ChannelNo>,
    /// For each channel, how many of the participant's awareness messages reach the room, and how
    /// late.
    pub(in crate::room) upstream: BTreeMap<ChannelNo, Upstream>,
    /// For each channel of sound frames, the number of the participant's frames that were not
    /// passed on: the later ones are numbered without them (wire W119).
    pub(super) unheard: BTreeMap<ChannelNo, u32>,
    /// The channel that was full when the room began to drop all transactions of this participant.
    /// When it takes transactions again, the room closes the participant's transport, and the
    /// client sends them again (W93).
    pub(in crate::room) held: Option<ChannelNo>,
    /// In a mirror: the counter of the last transaction that was passed on to the room.
    pub(in crate::room) passed_on: Counter,
}
