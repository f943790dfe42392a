//! The parts of the room's snapshot that the application makes, and those that the server sends
//! (wire W32, W95).

use alloc::string::ToString;
use alloc::vec::Vec;

use super::channel::{Channel, Stage};
use super::channel_id::ChannelId;
use super::delivery::{Announced, Inbound};
use super::event::Event;
use super::payloads::Reading;
use super::phase::{Joined, Phase};
use super::provided::Provided;
use super::session::Session;
use super::upload::Upload;
use super::{Client, check_size};
use crate::ids::{ChannelNo, Counter, Position};
use crate::limits::{MAX_PART_NAME, MAX_PARTS};
use crate::link::Link;
use crate::wire::frame::Frame;
use crate::wire::snapshot::{Assembly, Chunk};
use crate::{Error, Kind};

impl Client {
    /// States that the application makes the part of the room's snapshot with this name: its state
    /// of these channels, which replaces their transactions. When the log of these channels has
    /// grown, the room asks one participant that has all of them open for the part, by
    /// [`Event::SnapshotWanted`]. Late joiners that open all of the channels begin with
    /// [`Event::Snapshot`].
    ///
    /// A channel can be in one part of a room only, and channels can be added to a part but not
    /// removed. With no channels, this client no longer makes the part.
    ///
    /// ```
    /// use core::time::Duration;
    /// use groupwire_session::client::{Client, Config};
    /// use groupwire_session::Qos;
    ///
    /// let mut client = Client::new(Duration::ZERO, Config::new("demo"))?;
    /// let shapes = client.channel("shapes", Qos::transaction())?;
    /// client.provide("drawing", &[shapes])?;
    /// # Ok::<(), groupwire_session::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name of more than 128 bytes or that begins with U+0000, an unknown channel, more than 64
    /// parts.
    pub fn provide(&mut self, part: &str, channels: &[ChannelId]) -> Result<(), Error> {
        let Client { phase, session, .. } = self;
        check_size("name of a part", part.len(), MAX_PART_NAME)?;
        if part.starts_with('\0') {
            return Err(Error::malformed("the name of a part begins with U+0000"));
        }
        let mut places = Vec::new();
        for &channel in channels {
            session.open_mut(channel)?;
            places.push(channel.0 as usize);
        }
        match session.parts.iter().position(|known| known.name == part) {
            Some(at) => {
                let known = &mut session.parts[at];
                (known.channels, known.is_offered) = (places, false);
            }
            None if session.parts.len() >= MAX_PARTS => {
                return Err(Error::TooMany { what: "parts of a snapshot", limit: MAX_PARTS });
            }
            None => {
                let name = part.to_string();
                session.parts.push(Provided { name, channels: places, is_offered: false });
            }
        }
        if let Phase::Joined(joined) = phase {
            offer_parts(&mut session.parts, &session.channels, &mut joined.link);
        }
        Ok(())
    }

    /// Answers [`Event::SnapshotWanted`]: `bytes` replace the transactions of the part's channels
    /// up to `as_of`. Nothing is sent if the room did not ask for it on the present transport.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the part is over the server's limit. The room then goes on without
    /// it.
    pub fn snapshot(&mut self, part: &str, as_of: Position, bytes: &[u8]) -> Result<(), Error> {
        let limit = self.session.membership.map_or(0, |membership| membership.max_snapshot);
        check_size("part of a snapshot", bytes.len(), limit)?;
        let parts = &self.session.parts;
        let is_it = |wanted: &mut (u32, Position)| {
            parts.get(wanted.0 as usize).is_some_and(|known| known.name == part)
                && wanted.1 == as_of
        };
        if let Phase::Joined(joined) = &mut self.phase
            && let Some((number, as_of)) = joined.snapshot_wanted.take_if(is_it)
        {
            joined.upload = Some(Upload::new(number, as_of, bytes));
        }
        Ok(())
    }
}

/// Tells the server of the parts that the application makes and whose channels are all open.
pub(super) fn offer_parts(parts: &mut [Provided], channels: &[Channel], link: &mut Link) {
    for (number, part) in parts.iter_mut().enumerate().filter(|(_, part)| !part.is_offered) {
        let number_of = |&at: &usize| {
            let channel = &channels[at];
            let is_usable = channel.stage == Stage::Open
                && channel.access.subscribe
                && channel.qos.kind == Kind::Transaction;
            channel.id.filter(|_| is_usable)
        };
        let ids: Option<Vec<ChannelNo>> = part.channels.iter().map(number_of).collect();
        let Some(ids) = ids.map(ascending) else { continue };
        part.is_offered = true;
        let (number, counter, name) = (number as u32, Counter(0), part.name.as_str());
        link.queue(&Frame::Part { part: number, counter, name, channels: ids });
    }
}

/// The channel at this place is closed, so the server has forgotten the parts that it belongs to.
pub(super) fn withdraw_parts(parts: &mut [Provided], at: usize) {
    for part in parts.iter_mut().filter(|part| part.channels.contains(&at)) {
        part.is_offered = false;
    }
}

/// The numbers in ascending order, each once. They are few, and the standard library's sorting is
/// large code for a browser.
fn ascending(ids: Vec<ChannelNo>) -> Vec<ChannelNo> {
    let mut sorted: Vec<ChannelNo> = Vec::with_capacity(ids.len());
    for id in ids {
        let place = sorted.partition_point(|other| *other < id);
        if sorted.get(place) != Some(&id) {
            sorted.insert(place, id);
        }
    }
    sorted
}

impl Joined {
    /// The server asks for a part of the snapshot.
    pub(super) fn on_snapshot_wanted(
        &mut self,
        session: &mut Session,
        number: u32,
        at_least: Position,
    ) -> Result<(), Error> {
        let position = session.delivered.position;
        if at_least > position {
            return Err(Error::malformed("SNAPSHOT_WANTED: of the future"));
        }
        let Some(part) = session.parts.get(number as usize) else {
            return Err(Error::malformed("SNAPSHOT_WANTED: of a part that was not offered"));
        };
        // The room asked before it read SHUT or OPEN: transactions of the channel were dropped
        // here, or are still to come. Or this end has a part that is ahead of its place in the log,
        // or is in the midst of a transaction.
        let has_all = |&at: &usize| {
            let channel = &session.channels[at];
            channel.id.is_some() && channel.is_complete_at(position)
        };
        if part.channels.is_empty() || !part.channels.iter().all(has_all) {
            return Ok(());
        }
        self.snapshot_wanted = Some((number, position));
        let part = part.name.clone();
        session.emit(Event::SnapshotWanted { part, as_of: position });
        Ok(())
    }
    /// W95: the server announces a part of the snapshot, which follows in chunks.
    pub(super) fn on_part(
        &mut self,
        number: u32,
        counter: Counter,
        name: &str,
        channels: &[ChannelNo],
    ) -> Result<(), Error> {
        let Inbound { parts, numbers, .. } = &mut self.inbound;
        if parts.len() >= MAX_PARTS {
            return Err(Error::TooMany { what: "parts of a snapshot", limit: MAX_PARTS });
        }
        let at =
            |id: &ChannelNo| numbers.at(*id).ok_or(Error::UnknownChannel { channel: id.get() });
        let channels = channels.iter().map(at).collect::<Result<_, _>>()?;
        parts.push((number, Announced { name: name.to_string(), counter, channels }));
        Ok(())
    }

    /// W53: a chunk of a part whose bytes are packed.
    pub(super) fn on_packed_chunk(
        &mut self,
        reading: Reading<'_>,
        chunk: &Chunk<'_>,
    ) -> Result<(), Error> {
        let Reading { session, packing, .. } = reading;
        let chunk = chunk.unpacked(packing, session.config.limits.max_snapshot)?;
        self.on_chunk(session, &chunk)
    }

    /// W32: a chunk of a part.
    pub(super) fn on_chunk(
        &mut self,
        session: &mut Session,
        chunk: &Chunk<'_>,
    ) -> Result<(), Error> {
        let limit = session.config.limits.max_snapshot;
        let Inbound { parts, download, .. } = &mut self.inbound;
        let Some(at) = parts.iter().position(|(number, _)| *number == chunk.part) else {
            return Err(Error::malformed("SNAPSHOT: of a part that was not announced"));
        };
        let Some(Assembly { as_of, bytes, .. }) = Assembly::add(download, chunk, limit)? else {
            return Ok(());
        };
        let (_, Announced { name: part, counter, channels }) = parts.remove(at);
        session.confirm_covered(&channels, counter);
        for at in channels {
            // The part may end before the old `have`: then the server sends the later transactions
            // again (W18).
            session.channels[at].received.have = as_of;
            session.channels[at].received.forget_begun();
        }
        session.emit(Event::Snapshot { part, as_of, bytes });
        Ok(())
    }
}
