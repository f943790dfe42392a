//! Asks the authority of a room what a participant may do.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::log::{Channel, Log};
use crate::{
    Access, Authority, ChangeRequest, ChannelNo, Grant, Identity, OpenRequest, PartRequest, Qos,
    Quota,
};

/// See the [module](self).
pub(super) struct Permissions {
    /// The room's name, which the authority is told.
    room: String,
    authority: Box<dyn Authority + Send>,
}

impl Permissions {
    pub(super) fn new(room: &str, authority: Box<dyn Authority + Send>) -> Self {
        Permissions { room: room.into(), authority }
    }

    /// Whether, and how, a participant may open a channel.
    pub(super) fn may_open(
        &self,
        identity: &Identity,
        channel: &str,
        access: Access,
        qos: Qos,
        log: &Log,
    ) -> Result<Grant, String> {
        let existing = log.find_channel(channel).map(|channel| log.channel(channel).qos);
        let room = &self.room;
        self.authority.open(&OpenRequest { room, identity, channel, access, qos, existing })
    }

    /// Whether, and how, a participant may use a channel without making it: as if it existed, so
    /// that the right to set its QoS does not matter.
    pub(super) fn may_use(
        &self,
        identity: &Identity,
        channel: &str,
        access: Access,
        qos: Qos,
    ) -> Result<Grant, String> {
        let (room, existing) = (&self.room, Some(qos));
        self.authority.open(&OpenRequest { room, identity, channel, access, qos, existing })
    }

    /// The QoS to which a participant may change a channel that it has open with this access.
    pub(super) fn may_change(
        &self,
        identity: &Identity,
        channel: &Channel,
        access: Access,
        qos: Qos,
    ) -> Result<Qos, String> {
        let Channel { name, qos: existing } = channel;
        let (room, existing) = (&self.room, *existing);
        let request = ChangeRequest { room, identity, channel: name, access, qos, existing };
        let can_become =
            |qos: Qos| existing.can_become(&qos).map(|()| qos).map_err(|error| error.to_string());
        can_become(qos).and_then(|_| self.authority.change(&request)).and_then(can_become)
    }

    /// Whether a participant may make a part of the snapshot that stands for these channels.
    pub(super) fn may_make(
        &self,
        identity: &Identity,
        part: &str,
        channels: &[ChannelNo],
        log: &Log,
    ) -> Result<(), String> {
        let names: Vec<&str> =
            channels.iter().map(|&channel| log.channel(channel).name.as_str()).collect();
        let room = &self.room;
        self.authority.part(&PartRequest { room, identity, part, channels: &names })
    }

    /// What a participant may send. `usual`: the quota of participants of this room.
    pub(super) fn quota(&self, identity: &Identity, usual: Quota) -> Quota {
        self.authority.quota(identity, usual)
    }
}
