//! Resets channels: the room drops everything that they hold, and tells the participants (wire
//! W102).

use alloc::collections::BTreeSet;
use alloc::string::String;
use core::time::Duration;

use crate::room::Room;
use crate::room::administration::NotReset;
use crate::room::log::Message;
use crate::{ChannelNo, ParticipantId, Position};

impl Room {
    /// Resets channels: their transactions, values and parts of the snapshot are gone once the
    /// transaction at the position that is returned is durable. Participants who had something of
    /// these channels are told of a gap.
    ///
    /// # Errors
    /// [`NotReset`] says why nothing was reset.
    pub fn reset(&mut self, now: Duration, names: &[String]) -> Result<Position, NotReset> {
        self.common.now = now;
        let channels = self.channels_to_reset(names)?;
        let common = &mut self.common;
        // A full room is reset, too, because that frees space.
        common.log.check_positions(channels.len()).map_err(NotReset::Failed)?;
        let day = common.config.wall + now;
        for &channel in &channels {
            let sender = ParticipantId(0);
            let message = Message {
                channel,
                sender,
                key: None,
                priority: None,
                departed: None,
                to: None,
                text: false,
                piece: Default::default(),
                bytes: [].into(),
                born: now,
            };
            let position = common.log.append_own(message, None, day);
            common.log.reset_at(channel, position);
        }
        let position = common.log.head();
        common.accounting.inspector.advance(position);
        if !common.log.is_stored() {
            common.log.apply_resets();
            common.timers.schedule_tick(now);
        }
        Ok(position)
    }

    fn channels_to_reset(&self, names: &[String]) -> Result<BTreeSet<ChannelNo>, NotReset> {
        let log = &self.common.log;
        let find =
            |name: &String| log.find_channel(name).ok_or_else(|| NotReset::NoChannel(name.clone()));
        let channels: BTreeSet<ChannelNo> = names.iter().map(find).collect::<Result<_, _>>()?;
        let parts =
            log.parts().filter(|part| part.channels.iter().any(|one| channels.contains(one)));
        let others: BTreeSet<ChannelNo> = parts
            .flat_map(|part| part.channels.iter().copied())
            .filter(|one| !channels.contains(one))
            .collect();
        match others.is_empty() {
            true => Ok(channels),
            false => {
                let name = |channel: ChannelNo| log.channel(channel).name.clone();
                Err(NotReset::SharesPart(others.into_iter().map(name).collect()))
            }
        }
    }
}
