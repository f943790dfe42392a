//! The room's numbers of channels on one transport (wire W15, W16).

use alloc::vec::Vec;

use crate::datagrams::Needs;
use crate::ids::ChannelNo;
use crate::{Error, Kind};

/// The channels that the room has numbered on this transport, indexed by their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The channel with number n is at index n. Numbers begin at 1, so that index 0 stays empty.
    numbered: Vec<Option<Numbered>>,
}

/// A channel that the room has numbered.
#[derive(Debug, Clone, Copy)]
struct Numbered {
    /// Its place among the session's channels.
    at: usize,
    needs: Needs,
}

/// The largest number of a channel: rooms count from 1 and have few channels, and a table of this
/// size is small.
const MAX_CHANNEL_NO: ChannelNo = ChannelNo(4096);

impl Numbers {
    /// The place among the session's channels.
    pub(super) fn at(&self, id: ChannelNo) -> Option<usize> {
        self.get(id).map(|numbered| numbered.at)
    }

    /// # Errors
    /// The room has no open channel of this number.
    pub(super) fn needs(&self, id: ChannelNo) -> Result<Needs, Error> {
        let needs = self.get(id).map(|numbered| numbered.needs);
        needs.ok_or(Error::UnknownChannel { channel: id.get() })
    }

    /// # Errors
    /// As [`Numbers::needs`].
    pub(super) fn kind(&self, id: ChannelNo) -> Result<Kind, Error> {
        self.needs(id).map(|needs| needs.qos.kind)
    }

    pub(super) fn needs_mut(&mut self, id: ChannelNo) -> Option<&mut Needs> {
        let numbered = self.numbered.get_mut(id.get() as usize)?;
        numbered.as_mut().map(|numbered| &mut numbered.needs)
    }

    /// # Errors
    /// A number that no room gives.
    pub(super) fn insert(&mut self, id: ChannelNo, at: usize, needs: Needs) -> Result<(), Error> {
        if id == ChannelNo(0) || id > MAX_CHANNEL_NO {
            return Err(Error::malformed("CHANNEL: its number"));
        }
        let place = id.get() as usize;
        if self.numbered.len() <= place {
            self.numbered.resize(place + 1, None);
        }
        self.numbered[place] = Some(Numbered { at, needs });
        Ok(())
    }

    fn get(&self, id: ChannelNo) -> Option<&Numbered> {
        self.numbered.get(id.get() as usize)?.as_ref()
    }
}
