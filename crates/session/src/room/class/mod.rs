//! Datagrams by class (wire.md W70 to W75): awareness is coded once for all receivers who are sent the same, and repeat
//! the same.
//!
//! A *class* is an audience, a step of the ladder of repeats, and whether its members are near. Its epochs are the room's
//! to choose: they advance when all members have acknowledged enough. Who does not keep up leaves, and is served alone.

mod arrange;
mod compose;
mod loss;
mod member;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::audience::Audience;
use super::participant::Connection;
use super::{Output, Room};
use crate::ids::{ChannelNo, GroupId, Order, ParticipantId};
use crate::limits::RECORD_OVERHEAD_IN_DATAGRAMS;
use crate::wire::acknowledged::Acknowledged;
use crate::wire::body::{ClassEncoder, Lane};
use crate::wire::frame::{ACKNOWLEDGED, Frame, Frames};
use crate::{Error, wire};
use compose::Round;
pub(super) use member::Member;
use member::Served;

/// Octets of a class's datagram without what is private in it: QUIC and WebTransport leave 1,160 and more on every path.
const MAX_BODY: usize = 1000;

/// Octets that a transport's datagrams must have for a class: what is private fits in, too.
const LEAST_DATAGRAM: usize = MAX_BODY + MAX_PRIVATE;

/// Octets of private frames beside a body.
const MAX_PRIVATE: usize = 150;

/// Tag and class.
const HEADER: usize = 6;

/// Packets kept to be sent again: as many as a receiver tells apart.
const KEPT: usize = 127;

/// Packets by which a datagram may be overtaken before it counts as lost.
const REORDERED: u32 = 2;

/// With so many packets since the last acknowledgement, the newest came shortly before this one.
const MANY: u32 = 6;

/// Participants at a time who are served alone as they did not keep up, or lose too much, or are about to enter a class:
/// each costs as much as a class does. When more are late, it is this end or a path that they have in common, and to serve
/// them alone would make it worse.
const MOST_ALONE: usize = 16;

/// A model is renewed long before its packets' numbers could run out (at a thousand a second, after weeks).
const LAST_NUMBER: u32 = 1 << 31;

/// The classes of a room.
#[derive(Default)]
pub(super) struct Classes {
    list: Vec<Class>,
    last_id: GroupId,
    /// Awareness up to this order was sent.
    cursor: Order,
    /// Participants who are served alone for a while.
    alone: usize,
}

/// Whom a class is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    audience: Audience,
    /// Of the ladder.
    step: u8,
    /// For those with long round trips: who acknowledges late makes the model old for all.
    is_far: bool,
}

impl Key {
    /// Whether only the step differs.
    fn is_like(&self, other: &Key) -> bool {
        (&self.audience, self.is_far) == (&other.audience, other.is_far)
    }
}

/// Receivers of the same datagrams.
struct Class {
    id: GroupId,
    key: Key,
    members: Vec<ParticipantId>,
    encoder: ClassEncoder,
    kept: VecDeque<Kept>,
    /// The newest packet; 0 before the first.
    newest: u32,
    /// What is to be repeated.
    rounds: VecDeque<Round>,
    /// The model as of a packet, for who enters now.
    model: Option<(u32, Arc<[u8]>)>,
}

/// A packet that was sent.
struct Kept {
    number: u32,
    sent: Duration,
    /// The frame, as it ends a datagram.
    frame: Arc<[u8]>,
}

/// Counts one more who is served alone, if there may be one.
fn is_admitted(alone: &mut usize) -> bool {
    let is_admitted = *alone < MOST_ALONE;
    *alone += usize::from(is_admitted);
    is_admitted
}

/// Whether messages with so many octets, key included, fit the datagrams of classes.
fn takes(size: usize) -> bool {
    size + RECORD_OVERHEAD_IN_DATAGRAMS <= MAX_BODY
}

impl Classes {
    fn get(&mut self, id: GroupId) -> Option<&mut Class> {
        self.list.iter_mut().find(|class| class.id == id)
    }

    /// The version of the model that a class's next packet is coded under, and after how many ticks it repeats.
    #[cfg(feature = "describe")]
    pub(super) fn describe(&self, id: GroupId) -> Option<(u32, &'static [u32])> {
        let class = self.list.iter().find(|class| class.id == id)?;
        Some((class.encoder.coder.epoch(), loss::LADDER[usize::from(class.key.step)]))
    }

    /// Whether one more may be served alone for a while; it is counted.
    fn admit(&mut self) -> bool {
        is_admitted(&mut self.alone)
    }

    /// When something is to be repeated next.
    pub(super) fn next_round(&self) -> Option<Duration> {
        self.list.iter().filter_map(Class::next_round).min()
    }

    /// Of what came after this order, some is still to be repeated.
    pub(super) fn needs_after(&self) -> Order {
        let needs = self.list.iter().filter_map(|class| class.rounds.front());
        needs.map(Round::after).min().unwrap_or(Order(u64::MAX))
    }

    /// Octets that they hold, about.
    pub(super) fn memory(&self) -> usize {
        let of = |class: &Class| {
            let kept: usize = class.kept.iter().map(|kept| kept.frame.len()).sum();
            kept + class.encoder.coder.memory()
        };
        self.list.iter().map(of).sum()
    }
}

impl Class {
    /// The packets after `number` that are still there.
    fn kept_after(&self, number: u32) -> impl Iterator<Item = &Kept> {
        let from = self.kept.partition_point(|kept| kept.number <= number);
        self.kept.range(from..)
    }

    /// The newest packet that was sent at least so long ago.
    fn older_than(&self, now: Duration, age: Duration) -> u32 {
        let older = self.kept.partition_point(|kept| kept.sent + age <= now);
        let last = older.checked_sub(1).and_then(|last| self.kept.get(last));
        last.map_or(0, |kept| kept.number)
    }

    /// The model as it is now.
    fn model(&mut self) -> Arc<[u8]> {
        if let Some((number, model)) = &self.model
            && *number == self.newest
        {
            return Arc::clone(model);
        }
        let mut model = Vec::new();
        self.encoder.coder.snapshot(&mut model);
        let model: Arc<[u8]> = model.into();
        self.model = Some((self.newest, Arc::clone(&model)));
        model
    }
}

/// Puts a packet on the stream (W74): what is in it is older by what it waited.
fn send_again(now: Duration, connection: &mut Connection, class: GroupId, kept: &Kept) {
    let mut header = Vec::new();
    wire::frame::shared_datagram(class, &mut header);
    let rest = kept.frame.get(header.len()..).unwrap_or_default();
    let waited = now.saturating_sub(kept.sent).as_millis();
    let waited = u32::try_from(waited).unwrap_or(u32::MAX);
    connection.link.queue(&Frame::SharedAgain { class, waited, rest });
}

impl Room {
    /// Sends classes what came up to this order, and what is to be repeated.
    pub(super) fn flush_classes(&mut self, now: Duration, due: Order) {
        let Room {
            classes, participants, journal, channels, config, outputs, stats, trace, ..
        } = self;
        let before = core::mem::replace(&mut classes.cursor, due);
        for class in &mut classes.list {
            let made = class.compose(now, (before, due), config.timing.tick, journal, channels);
            let class_id = class.id;
            let mut everybody = class.newest;
            class.members.retain(|&id| {
                let connection =
                    participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut());
                let Some(connection) = connection else { return false };
                let served = connection.member.as_ref().and_then(|member| member.served.as_ref());
                let Some(served) = served.filter(|served| served.class == class_id) else {
                    return false;
                };
                everybody = everybody.min(served.acknowledged);
                if made.is_complete {
                    connection.pass_over(before, due);
                }
                for packet in &made.packets {
                    packet.count(id, stats);
                    if trace.is_on() {
                        trace.push(packet.traced(now, id, class_id));
                    }
                    let (link, body) = (connection.id, Some(Arc::clone(&packet.frame)));
                    outputs.push_back(Output::Datagram { link, packet: Vec::new(), body });
                }
                true
            });
            class.encoder.coder.advance(everybody);
        }
    }

    /// Takes in the ACKNOWLEDGED frames that a datagram begins with; returns what follows them, if anything does.
    ///
    /// # Errors
    /// A frame or an acknowledgement that is none. Those before it stand.
    pub(super) fn take_acknowledged<'p>(
        &mut self,
        now: Duration,
        id: ParticipantId,
        packet: &'p [u8],
    ) -> Result<Option<&'p [u8]>, Error> {
        let mut rest = packet;
        while rest.first() == Some(&ACKNOWLEDGED) {
            let mut frames = Frames::new(rest);
            let Some(Frame::Acknowledged { class, rest: acknowledgement }) = frames.next()? else {
                return Err(Error::malformed("datagram: its front"));
            };
            self.acknowledged(now, id, Lane::Datagrams, class, acknowledgement)?;
            rest = frames.remaining();
        }
        let is_all = rest.is_empty() && !packet.is_empty();
        Ok((!is_all).then_some(rest))
    }

    /// What came of a class's datagrams at one of its members (W72), told on this lane.
    pub(super) fn acknowledged(
        &mut self,
        now: Duration,
        id: ParticipantId,
        lane: Lane,
        class_id: GroupId,
        acknowledgement: &[u8],
    ) -> Result<(), Error> {
        let acknowledgement = Acknowledged::read(acknowledgement)?;
        let Room { classes, participants, .. } = self;
        let Some(connection) =
            participants.get_mut(&id).and_then(|one| one.connection.as_deref_mut())
        else {
            return Ok(());
        };
        let Some(mut member) = connection.member.take() else {
            return Err(Error::malformed("ACKNOWLEDGED: it was not agreed on"));
        };
        // W71: it has the model once it says so behind the last piece. What a datagram says, or comes sooner, is of an
        // earlier stay.
        let waits = member.waits_for(class_id) && (lane == Lane::Datagrams || member.has_piece());
        // What it has left, it may not know yet.
        if let Some(class) = classes.get(class_id).filter(|_| !waits) {
            let keeps_up = match class.encoder.coder.acknowledge(acknowledgement.gmc) {
                Ok(Some(top)) => member.heard(now, class, top, &acknowledgement, id, connection),
                Ok(None) | Err(_) => false,
            };
            if !keeps_up {
                member.drop_class(now, class_id, connection);
            }
        }
        connection.member = Some(member);
        Ok(())
    }
}

impl Member {
    /// Takes in an acknowledgement. `false`: it cannot go on in this class.
    fn heard(
        &mut self,
        now: Duration,
        class: &mut Class,
        top: u32,
        acknowledgement: &Acknowledged<'_>,
        id: ParticipantId,
        connection: &mut Connection,
    ) -> bool {
        if self.enters.take_if(|enters| enters.class == class.id).is_some() {
            self.begin(now, class, top, id, connection);
            return true;
        }
        let Some(served) = self.served.as_mut().filter(|served| served.class == class.id) else {
            return true;
        };
        if acknowledgement.newest > class.newest {
            return false;
        }
        served.acknowledged = served.acknowledged.max(top);
        let many = acknowledgement.newest.saturating_sub(served.judged) >= MANY;
        let newest = class.kept_after(acknowledgement.newest.saturating_sub(1)).next();
        let took = newest.filter(|_| many).map(|newest| now.saturating_sub(newest.sent));
        let told = acknowledgement.newest.saturating_sub(REORDERED);
        for number in served.judged + 1..=told {
            self.loss.count(acknowledgement.lacks(number));
        }
        served.judged = served.judged.max(told);
        let missing = class.kept_after(served.again.max(served.acknowledged));
        for kept in missing.take_while(|kept| kept.number <= told) {
            if acknowledgement.lacks(kept.number) {
                send_again(now, connection, class.id, kept);
            }
        }
        served.again = served.again.max(told);
        if let Some(time) = took {
            self.took(time);
        }
        true
    }

    /// It has the model. What was sent since comes over the stream, then datagrams. If that
    /// is not kept any more, the model is too old, and it enters again.
    fn begin(
        &mut self,
        now: Duration,
        class: &mut Class,
        top: u32,
        id: ParticipantId,
        connection: &mut Connection,
    ) {
        let is_kept = class.newest <= top
            || class.kept.front().is_some_and(|oldest| oldest.number <= top + 1);
        if !is_kept {
            return;
        }
        if let Some(served) = self.served.take().filter(|served| served.class != class.id) {
            leave(connection, served.class);
        }
        class.kept_after(top).for_each(|kept| send_again(now, connection, class.id, kept));
        self.served = Some(Served {
            class: class.id,
            audience: class.key.audience.clone(),
            since: now,
            acknowledged: top,
            judged: class.newest,
            again: class.newest,
        });
        if !class.members.contains(&id) {
            class.members.push(id);
        }
    }

    /// It did not keep up with a class that it is in or enters.
    fn drop_class(&mut self, now: Duration, class: GroupId, connection: &mut Connection) {
        let is_in = self.served.as_ref().is_some_and(|served| served.class == class);
        let enters = self.enters.as_ref().is_some_and(|enters| enters.class == class);
        if !is_in && !enters {
            return;
        }
        self.punish(now);
        self.enters.take_if(|_| enters);
        self.served.take_if(|_| is_in);
        leave(connection, class);
    }
}

/// W75.
fn leave(connection: &mut Connection, class: GroupId) {
    connection.link.queue(&Frame::Leave { lane: Lane::Datagrams, class, rest: &[] });
}

impl Connection {
    /// Whether a class brings it these messages, so that they need not go alone.
    pub(super) fn is_served(&self, channel: ChannelNo, size: usize) -> bool {
        self.member.as_ref().is_some_and(|member| member.is_served(channel, size))
    }

    /// All that came between these orders went to its class, or is none of its business.
    fn pass_over(&mut self, before: Order, due: Order) {
        if let Some(fresh) = self.fresh.as_mut().filter(|fresh| fresh.cursor >= before) {
            fresh.cursor = due;
        }
        // Transactions go in order with what the stream carries of awareness.
        if self.joining.is_none() && self.awareness_cursor >= before {
            self.awareness_cursor = due;
        }
    }

    /// Queues the next piece of a model once the last one has left (W71).
    pub(super) fn feed_model(&mut self) {
        if self.link.has_control() {
            return;
        }
        if let Some(piece) = self.member.as_mut().and_then(Member::next_piece) {
            self.link.queue(&Frame::Model {
                lane: Lane::Datagrams,
                class: piece.class,
                total: piece.total,
                offset: piece.offset,
                rest: piece.bytes,
            });
        }
    }
}
