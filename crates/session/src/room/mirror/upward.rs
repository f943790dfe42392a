//! What a mirror passes on to its room, and what of its clients waits for the room.
//!
//! A mirror publishes nothing by itself: messages of its participants go to the room, and come back
//! to all of them in the order that the room has given them.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::pieces::{Joined, cut};
use super::up::ToRoom;
use crate::room::api::Output;
use crate::room::delivery::outputs::Outputs;
use crate::room::log::{Directs, Message};
use crate::wire::record::{Number, Record};
use crate::{Access, ChannelNo, Counter, Error, Identity, LinkId, ParticipantId, Position, Qos};

/// The most packets under way to the room. It has to be less than the number of packets that a
/// server takes of one connection before its room has handled them, which is 16.
const MOST_UNDER_WAY: usize = 8;

/// When more bytes than this wait for the room, awareness is dropped, and transactions close the
/// transport of their sender, which sends them again later. The room's server is then far behind.
const MOST_WAITING: usize = 8 << 20;

/// The most packets of a client that wait until it is admitted. Clients need none.
const MOST_EARLY: usize = 16;

/// The most channels that a participant may ask for at a time.
const MOST_OPENS: usize = 256;

/// See the [module](self).
pub(in crate::room) struct Upward {
    /// The transport to the room.
    pub(in crate::room) owner: LinkId,
    /// The time of the present input.
    now: Duration,
    /// Frames that were not cut into packets yet.
    frames: Vec<u8>,
    waiting: VecDeque<Arc<[u8]>>,
    waiting_bytes: usize,
    /// The number of packets that the room has not handled.
    under_way: usize,
    /// The packets of a batch that have come so far.
    pub(super) arriving: Joined,
    /// True once the copy of the room has come.
    pub(super) has_copy: bool,
    /// True once the room is lost to this mirror, or broke the rules.
    pub(super) has_ended: bool,
    pub(super) pending: BTreeMap<LinkId, Pending>,
    /// OPEN frames that wait until the room has decided on their channels.
    opens: BTreeMap<LinkId, VecDeque<Vec<u8>>>,
    /// Participants whose transports ended in the present input.
    gone: Vec<ParticipantId>,
    /// The room has asked for a part of the snapshot.
    pub(in crate::room) part_wanted: bool,
    /// Channels whose shares of missed messages participants have to be told.
    shares: BTreeSet<ChannelNo>,
}

/// A client that the room has not admitted yet.
pub(super) struct Pending {
    pub(super) opening: Vec<u8>,
    pub(super) identity: Identity,
    pub(super) max_datagram: usize,
    /// Later packets.
    pub(super) early: Vec<Vec<u8>>,
}

impl Upward {
    pub(in crate::room) fn new(owner: LinkId) -> Self {
        Upward {
            owner,
            now: Duration::ZERO,
            frames: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            under_way: 0,
            arriving: Joined::default(),
            has_copy: false,
            has_ended: false,
            pending: BTreeMap::new(),
            opens: BTreeMap::new(),
            gone: Vec::new(),
            part_wanted: false,
            shares: BTreeSet::new(),
        }
    }

    pub(super) fn at(&mut self, now: Duration) {
        self.now = now;
    }

    pub(super) fn tell(&mut self, frame: &ToRoom<'_>) {
        frame.write(self.now, &mut self.frames);
    }

    /// Passes a message of a participant on.
    ///
    /// # Errors
    /// A transaction cannot be taken now.
    pub(in crate::room) fn publish(
        &mut self,
        seat: LinkId,
        message: Message,
        record: &Record<'_>,
    ) -> Result<(), Error> {
        let is_full = self.waiting_bytes + self.frames.len() > MOST_WAITING;
        match record.number {
            Number::Awareness { .. } if is_full => {}
            Number::Awareness { index, after } => {
                self.tell(&ToRoom::Value { seat, index, after, message });
            }
            _ if is_full => {
                return Err(Error::NotNow { what: "the server that has the room is behind" });
            }
            Number::Transaction { counter, .. } | Number::Copy { counter, .. } => {
                self.tell(&ToRoom::Transaction { seat, counter, message });
            }
            Number::Fill { .. } | Number::Direct { .. } => {
                return Err(Error::malformed("record"));
            }
        }
        Ok(())
    }

    /// The participant's transport has ended. `error`: why the mirror closed it, if it did.
    pub(in crate::room) fn closed(
        &mut self,
        participant: ParticipantId,
        seat: LinkId,
        error: Option<Error>,
    ) {
        self.tell(&ToRoom::Closed { seat, error });
        self.opens.remove(&seat);
        self.gone.push(participant);
    }

    /// The participant has left.
    pub(in crate::room) fn left(&mut self, participant: ParticipantId, seat: LinkId) {
        self.tell(&ToRoom::Left { seat });
        self.opens.remove(&seat);
        self.gone.push(participant);
    }

    pub(super) fn take_gone(&mut self) -> Vec<ParticipantId> {
        core::mem::take(&mut self.gone)
    }

    pub(in crate::room) fn presence(&mut self, seat: LinkId, presence: &[u8]) {
        self.tell(&ToRoom::Presence { seat, presence });
    }

    /// Asks for a channel that the mirror does not know. `frame` is the participant's OPEN, which
    /// waits until the room has decided.
    ///
    /// # Errors
    /// The participant asks for too many.
    pub(in crate::room) fn open(
        &mut self,
        seat: LinkId,
        frame: Vec<u8>,
        (access, name, qos): (Access, &str, Qos),
    ) -> Result<(), Error> {
        let waiting = self.opens.entry(seat).or_default();
        if waiting.len() >= MOST_OPENS {
            let (what, limit) = ("channels that are opened at a time", MOST_OPENS);
            return Err(Error::TooMany { what, limit });
        }
        waiting.push_back(frame);
        self.tell(&ToRoom::Open { seat, access, name, qos });
        Ok(())
    }

    /// True if OPEN frames of a participant wait. Later ones go behind them.
    pub(in crate::room) fn has_opens(&self, seat: LinkId) -> bool {
        self.opens.get(&seat).is_some_and(|waiting| !waiting.is_empty())
    }

    /// The OPEN frame on which the room has decided.
    pub(super) fn take_open(&mut self, seat: LinkId) -> Option<Vec<u8>> {
        self.opens.get_mut(&seat)?.pop_front()
    }

    pub(in crate::room) fn change(
        &mut self,
        seat: LinkId,
        channel: ChannelNo,
        access: Access,
        qos: Qos,
    ) {
        self.tell(&ToRoom::Change { seat, channel, access, qos });
    }

    pub(in crate::room) fn receivers(&mut self, receivers: &[u64], offered: &BTreeSet<ChannelNo>) {
        let numbered = (1..).map(ChannelNo).zip(receivers.iter().copied());
        let receivers = numbered.filter(|(_, count)| *count > 0).collect();
        self.tell(&ToRoom::Receivers { receivers });
        self.tell(&ToRoom::Offered { channels: offered.iter().copied().collect() });
    }

    /// Passes a part of the snapshot on that a participant has made.
    pub(in crate::room) fn part(
        &mut self,
        name: &str,
        channels: &[ChannelNo],
        as_of: Position,
        bytes: Vec<u8>,
    ) {
        let (name, channels, counters) = (name.into(), channels.to_vec(), BTreeMap::new());
        let part = crate::room::log::Part { name, channels, as_of, bytes, counters };
        self.tell(&ToRoom::Part(part));
    }

    /// Passes the receipts of direct transactions on.
    pub(super) fn settled(&mut self, directs: &mut Directs) {
        for (to, position, receipt) in directs.take_settled() {
            self.tell(&ToRoom::Settled { to, position, receipt });
        }
    }

    pub(super) fn add_share(&mut self, channel: ChannelNo) {
        self.shares.insert(channel);
    }

    /// The channels whose shares of missed messages have changed since the last call.
    pub(in crate::room) fn take_shares(&mut self) -> BTreeSet<ChannelNo> {
        core::mem::take(&mut self.shares)
    }

    /// The room has handled a packet.
    pub(super) fn handled(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Puts out the packets that may be under way.
    pub(in crate::room) fn flush(&mut self, outputs: &mut Outputs) {
        // Cutting waits, so that frames of several inputs share a packet.
        if self.under_way < MOST_UNDER_WAY && self.waiting.is_empty() && !self.frames.is_empty() {
            let frames = core::mem::take(&mut self.frames);
            self.waiting.extend(cut(&frames));
            self.waiting_bytes = self.waiting.iter().map(|packet| packet.len()).sum();
        }
        while self.under_way < MOST_UNDER_WAY
            && !self.has_ended
            && let Some(packet) = self.waiting.pop_front()
        {
            self.waiting_bytes -= packet.len();
            self.under_way += 1;
            let (link, body) = (self.owner, Some(packet));
            outputs.push_back(Output::Send { link, packet: Vec::new(), body });
        }
    }

    /// Bytes of memory, about.
    pub(in crate::room) fn memory(&self) -> usize {
        self.frames.len() + self.waiting_bytes + self.arriving.memory()
    }
}

impl Pending {
    /// Keeps a packet that came before the client was admitted.
    ///
    /// # Errors
    /// The client sends more than it may.
    pub(super) fn keep(&mut self, packet: &[u8]) -> Result<(), Error> {
        if self.early.len() >= MOST_EARLY {
            return Err(Error::Stalled);
        }
        self.early.push(packet.to_vec());
        Ok(())
    }
}

/// What a mirror tells its participants of a counter that does not follow.
pub(in crate::room) fn follows(
    last: Counter,
    counter: Counter,
    is_copy: bool,
) -> Result<bool, Error> {
    match counter {
        _ if counter <= last => Ok(false),
        _ if counter == last.next() => Ok(true),
        // W83: this copy came before earlier transactions, which the stream will bring.
        _ if is_copy => Ok(false),
        _ => Err(Error::malformed("record: transactions are missing")),
    }
}
