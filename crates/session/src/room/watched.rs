//! While somebody looks on: what participants tell of how channels stand at them (wire.md W84).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::Room;
use super::participant::Connection;
use crate::ids::ChannelNo;
use crate::wire::frame::Frame;
use crate::wire::standing::{self, Told};
use crate::{Error, Standing};

/// Between two tellings: a person who looks on sees figures of the last ten seconds.
const EVERY: Duration = Duration::from_secs(2);

/// A connection's part in it.
#[derive(Default)]
pub(super) struct Watched {
    /// Both ends can (W10).
    agreed: bool,
    asked: bool,
    told: Option<Box<Told>>,
}

impl Watched {
    pub(super) fn new(agreed: bool) -> Self {
        Watched { agreed, ..Watched::default() }
    }

    /// Why the participant has the transport that it has.
    pub(super) fn reason(&self) -> Option<&str> {
        self.told.as_ref().map(|told| told.reason.as_str()).filter(|reason| !reason.is_empty())
    }

    pub(super) fn standing(&self, channel: ChannelNo) -> Option<&Standing> {
        self.told.as_ref()?.channels.iter().find(|one| one.channel == channel)
    }
}

impl Room {
    /// Asks whoever has not been asked.
    pub(super) fn ask_standings(&mut self, now: Duration) {
        let mut asked = Vec::new();
        for (&id, participant) in &mut self.participants {
            let Some(connection) = participant.connection.as_mut() else { continue };
            if connection.watched.agreed && !connection.watched.asked {
                connection.watched.asked = true;
                connection.link.queue(&Frame::Standing(&standing::wish(Some(EVERY))));
                asked.push(id);
            }
        }
        asked.into_iter().for_each(|id| self.flush(now, id));
    }

    /// Nobody looks on any more.
    pub(super) fn forget_standings(&mut self) {
        for participant in self.participants.values_mut() {
            let Some(connection) = participant.connection.as_mut() else { continue };
            let watched = &mut connection.watched;
            watched.told = None;
            if core::mem::take(&mut watched.asked) {
                connection.link.queue(&Frame::Standing(&standing::wish(None)));
            }
        }
    }
}

impl Connection {
    pub(super) fn hear_standing(&mut self, octets: &[u8]) -> Result<(), Error> {
        if !self.watched.agreed {
            return Err(Error::malformed("STANDING: it was not agreed on"));
        }
        let told = standing::read(octets, |channel| self.subscription(channel).is_some())?;
        // What comes unasked, or too late, is nobody's business.
        self.watched.told = self.watched.asked.then(|| Box::new(told));
        Ok(())
    }
}
