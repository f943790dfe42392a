//! The mirror's end of batches: applies what the room says to the copy of its log and of its list
//! of participants, and to single participants.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::MIRRORS;
use super::down::{Person, RoomFacts, ToMirror};
use super::upward::Upward;
use crate::room::Room;
use crate::room::api::{Config, Output};
use crate::room::common::Effect;
use crate::room::log::{Log, Value};
use crate::room::{Connection, Served};
use crate::wire::io::Reader;
use crate::{Authority, Error, Kind, LinkId, ParticipantId, PresenceState, Quotas};

/// The most bytes of a batch, and of the copy with which a mirror begins. Rooms have less: their
/// log is bounded, and so are the parts of their snapshot.
const MOST_ARRIVING: usize = 1 << 30;

impl Room {
    /// A mirror of a room at another server, which `owner` is the transport to. It is driven as a
    /// room. In addition, the packets that come from the room are given as [`Input::Packet`] of
    /// this transport, [`Input::Sent`] says that the room has handled one, and each packet is to be
    /// reported there as [`Input::Sent`] once the mirror has handled it. Once the mirror
    /// [has ended](Room::has_ended), it is to be shut down.
    ///
    /// `config` has the name of the room. What concerns all participants comes from the room.
    ///
    /// # Panics
    /// The crate was built without the feature `mirrors`.
    ///
    /// [`Input::Packet`]: crate::room::Input::Packet
    /// [`Input::Sent`]: crate::room::Input::Sent
    pub fn mirror(config: Config, authority: Box<dyn Authority + Send>, owner: LinkId) -> Self {
        if !MIRRORS {
            panic!("groupwire-session was built without the feature mirrors");
        }
        // The room counts what participants send.
        let config = Config { quotas: Quotas::default(), ..config };
        let mut room = Room::new(config, authority);
        room.common.log = Log::new_copy(room.common.config.limits.clone());
        room.common.storing = None;
        room.common.upward = Some(Box::new(Upward::new(owner)));
        room.common.timers.follow();
        room
    }

    /// Takes a packet of the room.
    pub(super) fn on_room_packet(&mut self, now: Duration, packet: &[u8]) {
        let Some(upward) = self.common.upward.as_deref_mut() else { return };
        if upward.has_ended {
            return;
        }
        let link = upward.owner;
        let outcome = upward.arriving.add(packet, MOST_ARRIVING).and_then(|frames| match frames {
            Some(frames) => self.apply_frames(now, &frames),
            None => Ok(()),
        });
        if let Err(error) = outcome {
            if let Some(upward) = self.common.upward.as_deref_mut() {
                upward.has_ended = true;
            }
            let (packet, reason) = (Vec::new(), Some(error));
            self.common.delivery.outputs.push_back(Output::Close { link, packet, reason });
        }
    }

    fn apply_frames(&mut self, now: Duration, frames: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(frames, "frames of a room");
        while !reader.is_empty() {
            let frame = ToMirror::read(now, &mut reader)?;
            let has_copy = self.common.upward.as_ref().is_some_and(|upward| upward.has_copy);
            if has_copy == matches!(frame, ToMirror::Room(_)) {
                return Err(Error::malformed("frames of a room: what it is comes first, and once"));
            }
            self.apply_frame(now, frame)?;
            self.carry_out_effects();
        }
        Ok(())
    }

    fn apply_frame(&mut self, now: Duration, frame: ToMirror<'_>) -> Result<(), Error> {
        let common = &mut self.common;
        match frame {
            ToMirror::Room(facts) => self.apply_facts(&facts),
            ToMirror::Channel { channel, name, qos } => {
                if common.log.copy_channel(channel, name, qos)? {
                    common.accounting.upstreams.forget(channel);
                    common.effects.push(Effect::Changed(channel));
                }
            }
            ToMirror::Bounds { channel, bounds } => common.log.copy_bounds(channel, bounds)?,
            ToMirror::Part(part) => {
                common.log.copy_part(part)?;
                common.effects.push(Effect::SnapshotCame);
            }
            ToMirror::Person { id, has_left, person } => {
                self.apply_person(now, id, has_left, &person);
            }
            ToMirror::Transaction { position, counter, message } => {
                let sender = message.sender;
                common.log.copy_transaction(position, counter, message)?;
                common.members.act(now, sender, &mut common.timers);
            }
            ToMirror::Value { index, after, message } => {
                common.log.check_channel(message.channel, Kind::Awareness)?;
                let sender = message.sender;
                let qos = common.log.channel(message.channel).qos;
                let pairs = common.timers.pairs_after(&qos);
                if qos.has_speakers() {
                    common.timers.schedule_frames(now);
                }
                let replaced = common.log.put(now, Value::new(message, index, after), pairs);
                common.accounting.stats.conflated += u64::from(replaced);
                common.members.act(now, sender, &mut common.timers);
            }
            ToMirror::Upstream { channel, share } => {
                common.accounting.upstreams.set_share(channel, share);
                common.upward.iter_mut().for_each(|upward| upward.add_share(channel));
            }
            ToMirror::Counter { id, counter } => common.log.copy_counter(id, counter),
            ToMirror::End { durable } => {
                common.log.copy_durable(durable)?;
                common.accounting.inspector.advance(durable);
                common.timers.schedule_tick(now);
            }
            ToMirror::Direct { position, counter, message } => {
                common.log.copy_direct(position, counter, message)?;
            }
            ToMirror::PartWanted => {
                common.upward.iter_mut().for_each(|upward| upward.part_wanted = true);
                self.snapshot_due = None;
                self.ask_for_part(now);
            }
            ToMirror::Admitted { seat, admission } => {
                return self.on_admitted(now, seat, &admission);
            }
            ToMirror::Refused { seat, error } => self.refuse_pending(seat, error),
            ToMirror::Opened { seat } => self.on_opened(now, seat),
            ToMirror::Tell { seat, frame } => {
                self.tell_at(now, seat, |one| one.link.queue_raw(frame.into()));
            }
            ToMirror::Renewed { seat, channel } => {
                self.tell_at(now, seat, |one| _ = one.notices.renewed.insert(channel));
            }
            ToMirror::Close { seat, error } => {
                self.serve(seat, |_, _| Served::Failed(error), now);
            }
            ToMirror::Delay { seat, time } => {
                if common.members.links.contains_key(&seat) {
                    let delay = Output::Delay { link: seat, delay: time.min(LONGEST_DELAY) };
                    common.delivery.outputs.push_back(delay);
                }
            }
        }
        Ok(())
    }

    fn apply_facts(&mut self, facts: &RoomFacts) {
        let common = &mut self.common;
        common.log.copy_facts(facts.incarnation, facts.max_snapshot);
        let config = &mut common.config;
        (config.incarnation, config.load) = (facts.incarnation, facts.load);
        config.durability = facts.durability;
        config.limits.max_message = facts.max_message.min(config.limits.max_message);
        config.limits.max_snapshot = facts.max_snapshot;
        config.announce_everybody_up_to = facts.announce_everybody_up_to;
        common.members.roster.set_bound(facts.announce_everybody_up_to);
        common.upward.iter_mut().for_each(|upward| upward.has_copy = true);
    }

    /// Applies the present state of a participant.
    fn apply_person(
        &mut self,
        now: Duration,
        id: ParticipantId,
        has_left: bool,
        person: &Person<'_>,
    ) {
        let common = &mut self.common;
        let roster = &mut common.members.roster;
        if has_left || person.state == PresenceState::Left {
            roster.leave(id);
            common.log.forget_values(id);
            common.timers.schedule_tick(now);
        }
        if person.state == PresenceState::Left {
            return;
        }
        let before = common.members.roster.get(id);
        let (has_acted, is_same) = match before {
            Some(before) => {
                let is_same_presence = before.bytes == person.presence;
                (!is_same_presence, is_same_presence && before.state == person.state)
            }
            None => (false, false),
        };
        if is_same {
            return;
        }
        common.members.roster.enter(id, person.user, person.presence);
        if person.state == PresenceState::Away {
            common.members.roster.set_away(id);
        }
        if has_acted {
            common.members.act(now, id, &mut common.timers);
        }
        common.members.announce(now, id, &mut common.timers);
    }

    /// Queues something for the participant at a connection.
    fn tell_at(&mut self, now: Duration, seat: LinkId, tell: impl FnOnce(&mut Connection)) {
        let queue = |peer: &mut crate::room::peer::Peer, _: &mut crate::room::common::Common| {
            if let Some(connection) = peer.connection_mut() {
                tell(connection);
            }
            Served::Flush
        };
        self.serve(seat, queue, now);
    }
}

/// The longest time for which a transport is not read (see [`Output::Delay`]).
const LONGEST_DELAY: Duration = Duration::from_secs(1);
