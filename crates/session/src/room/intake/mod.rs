//! What the room keeps to take in messages of participants.

pub(super) mod pieces;
mod speakers;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::log::Log;
use crate::{ChannelNo, ParticipantId};
use pieces::Pieces;
use speakers::Speakers;

/// See the [module](self).
pub(super) struct Intake {
    pub(super) pieces: Pieces,
    /// The channels of the parts of the snapshot that participants have offered to make lately.
    pub(super) offered: BTreeSet<ChannelNo>,
    /// The number of receivers of each channel, indexed by the channel's place in the log.
    /// Housekeeping counts them, so that counting the deliveries of a message does not visit all
    /// participants.
    pub(super) receivers: Vec<u64>,
    /// True if `receivers`, `offered` and
    /// [`Attention::listeners`](super::attention::Attention::listeners) have to be determined anew:
    /// participants came or went, or opened or closed channels.
    pub(super) has_new_subscriptions: bool,
    /// The participants whose transactions the room drops
    /// ([`Sender::held`](super::peer::Sender::held)). Some may have left since.
    pub(super) held: BTreeSet<ParticipantId>,
    /// For each channel of sound frames, the senders whose frames are passed on (wire W119).
    pub(super) speakers: BTreeMap<ChannelNo, Speakers>,
}

impl Intake {
    /// `max_bytes`: the most bytes of pieces whose transactions are not complete.
    pub(super) fn new(max_bytes: usize) -> Self {
        Intake {
            pieces: Pieces::new(max_bytes),
            offered: BTreeSet::new(),
            receivers: Vec::new(),
            has_new_subscriptions: false,
            held: BTreeSet::new(),
            speakers: BTreeMap::new(),
        }
    }

    /// True if the room can take no further transactions on this channel at present (W93).
    pub(super) fn is_full(&self, log: &Log, channel: ChannelNo) -> bool {
        self.pieces.is_full() || log.is_full(channel, |channel| self.has_part(log, channel))
    }

    /// True if a part of the snapshot stands for the channel, or a participant can make one that
    /// does.
    pub(super) fn has_part(&self, log: &Log, channel: ChannelNo) -> bool {
        self.offered.contains(&channel) || log.part_of(channel).is_some()
    }

    /// Notes that the participant's transport is gone.
    pub(super) fn end_transport(&mut self, participant: ParticipantId) {
        self.has_new_subscriptions = true;
        self.pieces.forget(participant);
    }
}
