//! The log as bytes for a store: transactions, parts of the snapshot, and the *facts*, which are
//! the channels, the counters of participants and the like. After a restart a log is built from
//! them.
//!
//! ```text
//! facts    = version:u8 forgotten:varint channels:bytes counters:bytes
//!            [departures:bytes]    if `version` is 3 or 4, see departures.rs
//!            [directs:bytes]       if `version` is 4
//!            [requests]            see published.rs
//! directs  = (position:varint channel:varint sender:varint to:varint counter:varint
//!            content:bytes)*
//!            of transactions for one participant (W114) that wait for it, if a part covers them
//! channels = (number:varint name:bytes qos)*
//! counters = (participant:varint counter:varint left:varint)*
//!            in the order in which they left; 0 is the room itself
//! content  = flags:u8 born:varint [priority:u8] [key:bytes] [request:24 bytes] message
//!            of a transaction; `born` in ms, Unix time
//!          | flags:u8 born:varint participant:varint     that the participant left (W113)
//! part     = version:u8 counters:bytes state
//!          | reset:u8                     a reset of the part's channels (W102)
//! ```
//!
//! Stored bytes may be damaged or come from another program, so reading them never panics.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::directs::Direct;
use super::message::{Message, Transaction};
use super::sessions::{Former, Session, Sessions};
use super::transactions::{Part, Reset, Transactions};
use super::{Channel, Log, RequestKey, check_numbers};
use crate::limits::{MAX_CHANNEL_NAME, MAX_KEY, MAX_PART_NAME};
use crate::room::storage::stored::{RESET_SIZE, Stored, StoredPart, StoredTransaction};
use crate::wire::io::{Reader, Write};
use crate::wire::piece::Piece;
use crate::{ChannelNo, Counter, Error, Limits, Order, ParticipantId, Position, Qos, Receipt};

const VERSION: u8 = 1;

/// The version byte of a stored reset, in place of [`VERSION`].
const RESET: u8 = 2;

/// The version of facts in which departures stand. Rooms without them have facts of [`VERSION`],
/// which older servers read.
const VERSION_WITH_DEPARTURES: u8 = 3;

/// The version of facts with departures and direct transactions.
const VERSION_WITH_DIRECTS: u8 = 4;

/// The receiver of a stored direct transaction that cannot be delivered.
const NOBODY: ParticipantId = ParticipantId(u32::MAX);

/// Flags of a transaction.
const TEXT: u8 = 1;
const KEY: u8 = 2;
const PRIORITY: u8 = 4;
const GOES_ON: u8 = 8;
const CONTINUES: u8 = 16;
const REQUEST: u8 = 32;
const RESETS: u8 = 64;
const DEPARTED: u8 = 128;

/// The counters of participants who left are stored for this long.
const KEPT_AFTER_LEAVING: Duration = Duration::from_secs(7 * 24 * 3600);

/// The largest number of a channel that a store or another server is believed: no room has more
/// channels (wire W16).
pub(in crate::room) const MOST_CHANNELS: u32 = 4096;

impl Log {
    /// The log's facts, with these of its channels. `wall` is the time of day at the room's time 0,
    /// as Unix time.
    pub(in crate::room) fn facts(
        &mut self,
        stored: &BTreeSet<ChannelNo>,
        wall: Duration,
        now: Duration,
    ) -> Vec<u8> {
        self.sessions.forget_before((wall + now).saturating_sub(KEPT_AFTER_LEAVING).as_secs());
        let mut facts = Vec::new();
        let departures = self.departures.stored();
        let directs = self.covered_directs(wall);
        facts.u8(match (directs.is_empty(), departures.is_empty()) {
            (false, _) => VERSION_WITH_DIRECTS,
            (true, false) => VERSION_WITH_DEPARTURES,
            (true, true) => VERSION,
        });
        facts.varint(self.sessions.forgotten().unwrap_or_default().into());
        let mut channels = Vec::new();
        for (number, channel) in self.channels().filter(|(number, _)| stored.contains(number)) {
            channels.varint(number.into());
            channels.bytes(channel.name.as_bytes());
            channel.qos.write(&mut channels);
        }
        facts.bytes(&channels);
        let mut counters = Vec::new();
        let former = self.sessions.former().map(|one| (one.participant, one.session, one.left));
        let here = (wall + now).as_secs();
        let present = self.sessions.present().map(|(id, session)| (id, *session, here));
        for (participant, session, left) in former.chain(present) {
            if session.counter > Counter(0) {
                counters.varint(participant.into());
                counters.varint(session.counter.into());
                counters.varint(left);
            }
        }
        if self.published.counter > Counter(0) {
            counters.varint(ParticipantId(0).into());
            counters.varint(self.published.counter.into());
            counters.varint(here);
        }
        facts.bytes(&counters);
        if !departures.is_empty() || !directs.is_empty() {
            facts.bytes(&departures);
        }
        if !directs.is_empty() {
            facts.bytes(&directs);
        }
        facts.extend_from_slice(&self.published.requests(wall + now));
        facts
    }

    /// The waiting direct transactions that a part of the snapshot covers: the store deletes such
    /// transactions, so the facts contain these.
    fn covered_directs(&self, wall: Duration) -> Vec<u8> {
        let mut directs = Vec::new();
        for (to, direct) in self.directs.all() {
            let Direct { message, counter, position, .. } = direct;
            if *position <= self.transactions.covered(message.channel) {
                directs.varint(position.get());
                directs.varint(message.channel.into());
                directs.varint(message.sender.into());
                directs.varint(to.into());
                directs.varint((*counter).into());
                directs.bytes(&self.content(message, *position, wall));
            }
        }
        directs
    }

    /// A transaction of this log as a store keeps it.
    pub(in crate::room) fn stored(&self, one: &Transaction, wall: Duration) -> StoredTransaction {
        let Transaction { message, counter, position, .. } = one;
        let direct = message.to.and_then(|to| self.directs.get(to, *position));
        let content = direct.map_or(message, |direct| &direct.message);
        StoredTransaction {
            position: *position,
            channel: message.channel,
            author: message.sender,
            recipient: match direct {
                Some(_) => message.to.unwrap_or_default(),
                // The direct transaction does not wait any more, so it has no content.
                None => message.to.map_or(ParticipantId(0), |_| NOBODY),
            },
            counter: *counter,
            content: self.content(content, *position, wall),
        }
    }

    fn content(&self, message: &Message, position: Position, wall: Duration) -> Vec<u8> {
        let is_own = message.sender == ParticipantId(0);
        let request = self.published.request_at(position);
        let resets = is_own && self.resets.get(&message.channel) == Some(&position);
        let mut content = Vec::with_capacity(message.size() + 16);
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        content.u8(flag(TEXT, message.text)
            | flag(KEY, message.key.is_some())
            | flag(PRIORITY, message.priority.is_some())
            | flag(GOES_ON, message.piece.goes_on())
            | flag(CONTINUES, !message.piece.begins())
            | flag(REQUEST, request.is_some())
            | flag(RESETS, resets)
            | flag(DEPARTED, message.departed.is_some()));
        content.varint((wall + message.born).as_millis() as u64);
        if let Some(priority) = message.priority {
            content.u8(priority);
        }
        if let Some(key) = &message.key {
            content.bytes(key);
        }
        if let Some(request) = request {
            request.write(&mut content);
        }
        if let Some(departed) = message.departed {
            content.varint(departed.into());
        }
        content.extend_from_slice(&message.bytes);
        content
    }

    /// A part of this log's snapshot as a store keeps it.
    pub(in crate::room) fn stored_part(part: &Part) -> StoredPart {
        let mut counters = Vec::new();
        for (&participant, &counter) in &part.counters {
            counters.varint(participant.into());
            counters.varint(counter.into());
        }
        let mut content = Vec::with_capacity(part.bytes.len() + counters.len() + 4);
        content.u8(VERSION);
        content.bytes(&counters);
        content.extend_from_slice(&part.bytes);
        let Part { name, channels, as_of, .. } = part;
        StoredPart { name: name.clone(), channels: channels.clone(), as_of: *as_of, content }
    }

    /// A reset as a store keeps it: a part that stands for the transactions of its channels,
    /// without content.
    pub(in crate::room) fn stored_reset(reset: &Reset) -> StoredPart {
        let Reset { part, channels, as_of } = reset;
        let content = [RESET; RESET_SIZE].into();
        StoredPart { name: part.clone(), channels: channels.clone(), as_of: *as_of, content }
    }

    /// An empty log whose transactions are stored.
    pub(in crate::room) fn new_stored(incarnation: u64, limits: Limits) -> Self {
        let mut log = Log::new(incarnation, limits);
        log.sessions = Sessions::stored(ParticipantId(0), ParticipantId(0), VecDeque::new());
        log.transactions = Transactions::stored(Position(0));
        log
    }

    /// The log that a store has. `wall` is the time of day at the room's time 0, as Unix time.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the bytes are no log.
    pub(in crate::room) fn load(
        limits: Limits,
        stored: Stored,
        wall: Duration,
    ) -> Result<Self, Error> {
        let Stored { incarnation, last_participant, reserved, facts, head, parts, transactions } =
            stored;
        let mut log = Log::new_stored(incarnation, limits);
        check_numbers(reserved.max(last_participant), head, log.order)?;
        let (forgotten, mut former) = log.read_facts(&facts, wall)?;
        if let Some((counter, _)) = former.remove(&ParticipantId(0)) {
            log.published.counter = counter;
        }
        let is_known = |author| ParticipantId(0) < author && author <= last_participant;
        if !log.departures.channels().all(|channel| log.has_channel(channel))
            || !log.departures.authors().chain(log.directs.receivers()).all(is_known)
        {
            return Err(Error::malformed(
                "stored facts: channels or participants that the room never had",
            ));
        }
        log.transactions = Transactions::stored(head);
        for part in parts {
            log.restore_part(part, head)?;
        }
        let (mut last, mut begun) = (Position(0), Vec::new());
        for one in transactions {
            let StoredTransaction { position, channel, author, recipient, counter, content } = one;
            if position <= last || position > head {
                return Err(Error::malformed("stored transaction: its place"));
            }
            if !log.has_channel(channel) || author > last_participant {
                return Err(Error::malformed("stored transaction: its channel or author"));
            }
            last = position;
            let mut message = log.read_content(&content, (channel, author, position), wall)?;
            if author == ParticipantId(0) {
                log.published.counter = log.published.counter.max(counter);
            } else {
                let known = former.entry(author).or_insert((Counter(0), wall.as_secs()));
                known.0 = known.0.max(counter);
            }
            if position > log.trimmed(channel) {
                // The facts may be older than the transaction.
                match message.departed {
                    Some(departed) => log.departures.written(departed, channel),
                    None if recipient > ParticipantId(0) || author == ParticipantId(0) => {}
                    None if log.channel(channel).qos.departures => {
                        log.departures.note(author, channel);
                    }
                    None => {}
                }
                let order = Order(0);
                if recipient > ParticipantId(0) {
                    message.to = Some(recipient);
                    let place = message.place();
                    if recipient <= last_participant {
                        let direct = Direct { message, counter, position, order };
                        log.directs.restore(recipient, direct);
                    } else {
                        log.directs.note(author, counter, Receipt::Gone);
                    }
                    message = place;
                }
                let one = Transaction { message, counter, position, order };
                log.insert_whole(&mut begun, one);
            }
        }
        log.published.forget_after(head);
        log.transactions.set_durable(head);
        let mut former: VecDeque<Former> = former
            .into_iter()
            .map(|(participant, (counter, left))| Former {
                participant,
                session: Session { counter },
                left,
            })
            .collect();
        former.make_contiguous().sort_by_key(|one| one.left);
        log.sessions = Sessions::stored(last_participant, forgotten, former);
        Ok(log)
    }

    /// Adds a part of the snapshot, or a reset, that a store has. `head`: the position of the
    /// newest stored transaction.
    fn restore_part(&mut self, part: StoredPart, head: Position) -> Result<(), Error> {
        let is_known = part.channels.iter().all(|channel| self.has_channel(*channel));
        let is_known = is_known && part.as_of <= head;
        if part.content == [RESET] {
            if !is_known {
                return Err(Error::malformed("stored reset: its channels or its place"));
            }
            self.transactions.restore_reset(&part.channels, part.as_of);
            return Ok(());
        }
        let part = read_part(part)?;
        let is_sound = is_known
            && part.channels.is_sorted_by(|one, next| one < next)
            && part.name.len() <= MAX_PART_NAME
            && self.transactions.part(&part.name).is_none()
            && self.permits_part(&part.name, &part.channels);
        if !is_sound {
            return Err(Error::malformed("stored part: its channels or its place"));
        }
        self.transactions.restore_part(part);
        Ok(())
    }

    /// Inserts a transaction of the store. The pieces of one are inserted together when the last
    /// one comes (W97): if the store has lost some, the others mean nothing. `begun`: those that
    /// came so far.
    fn insert_whole(&mut self, begun: &mut Vec<Transaction>, one: Transaction) {
        let follows = match begun.last() {
            None => one.message.piece.begins(),
            Some(before) => {
                before.position.next() == one.position
                    && before.message.sender == one.message.sender
                    && !one.message.piece.begins()
            }
        };
        if !follows {
            begun.clear();
            if !one.message.piece.begins() {
                return;
            }
        }
        let goes_on = one.message.piece.goes_on();
        begun.push(one);
        if goes_on {
            return;
        }
        for mut piece in begun.drain(..) {
            self.order = self.order.next();
            piece.order = self.order;
            self.transactions.insert(piece);
        }
    }

    /// True if there is a channel with this number.
    pub(in crate::room) fn has_channel(&self, channel: ChannelNo) -> bool {
        let place = (channel.get() as usize).checked_sub(1);
        place.and_then(|place| self.channels.get(place)).is_some_and(|one| !one.name.is_empty())
    }

    /// Reads the channels and the counters. Returns the sessions of the participants.
    fn read_facts(&mut self, facts: &[u8], wall: Duration) -> Result<Known, Error> {
        let mut reader = Reader::new(facts, "facts of a stored room");
        let version = reader.u8()?;
        if ![VERSION, VERSION_WITH_DEPARTURES, VERSION_WITH_DIRECTS].contains(&version) {
            return Err(reader.malformed());
        }
        let forgotten = ParticipantId(reader.varint_u32()?);
        let mut channels = Reader::new(reader.bytes(usize::MAX, "channels")?, "stored channels");
        while !channels.is_empty() {
            let number = channels.varint_u32()?;
            let name = channels.text(MAX_CHANNEL_NAME, "channel name")?;
            let qos = Qos::read(&mut channels)?;
            if number == 0 || number > MOST_CHANNELS || name.is_empty() {
                return Err(channels.malformed());
            }
            let free = Channel { name: Default::default(), qos: Qos::transaction() };
            let count = self.channels.len().max(number as usize);
            self.channels.resize(count, free);
            self.channels[number as usize - 1] = Channel { name: name.into(), qos };
        }
        let mut counters = Reader::new(reader.bytes(usize::MAX, "counters")?, "stored counters");
        if version != VERSION {
            self.departures.restore(reader.bytes(usize::MAX, "departures")?)?;
        }
        if version == VERSION_WITH_DIRECTS {
            self.read_directs(reader.bytes(usize::MAX, "directs")?, wall)?;
        }
        self.published.restore(reader.rest())?;
        let mut known = BTreeMap::new();
        while !counters.is_empty() {
            let participant = ParticipantId(counters.varint_u32()?);
            let counter = Counter(counters.varint_u32()?);
            known.insert(participant, (counter, counters.varint()?));
        }
        Ok((forgotten, known))
    }

    /// Reads what [`Log::covered_directs`] wrote.
    fn read_directs(&mut self, directs: &[u8], wall: Duration) -> Result<(), Error> {
        let mut reader = Reader::new(directs, "stored transactions for one participant");
        while !reader.is_empty() {
            let position = Position(reader.varint()?);
            let channel = ChannelNo(reader.varint_u32()?);
            let sender = ParticipantId(reader.varint_u32()?);
            let to = ParticipantId(reader.varint_u32()?);
            let counter = Counter(reader.varint_u32()?);
            let content = reader.bytes(usize::MAX, "content")?;
            if !self.has_channel(channel) || sender == ParticipantId(0) {
                return Err(reader.malformed());
            }
            let message = self.read_content(content, (channel, sender, position), wall)?;
            let message = Message { to: Some(to), ..message };
            let order = Order(0);
            self.directs.restore(to, Direct { message, counter, position, order });
        }
        Ok(())
    }

    /// Reads a transaction. Notes its request key, and whether it resets its channel.
    fn read_content(
        &mut self,
        content: &[u8],
        (channel, sender, position): (ChannelNo, ParticipantId, Position),
        wall: Duration,
    ) -> Result<Message, Error> {
        let mut reader = Reader::new(content, "stored transaction");
        let flags = reader.u8()?;
        let own = if sender == ParticipantId(0) { RESETS | DEPARTED } else { 0 };
        if flags & !(TEXT | KEY | PRIORITY | GOES_ON | CONTINUES | REQUEST | own) != 0 {
            return Err(reader.malformed());
        }
        let at = Duration::from_millis(reader.varint()?);
        // A message from before the room was loaded gets the age of the room's clock.
        let born = at.saturating_sub(wall);
        let priority = if flags & PRIORITY != 0 { Some(reader.u8()?) } else { None };
        let key = match flags & KEY {
            0 => None,
            _ => Some(reader.bytes(MAX_KEY, "key")?.into()),
        };
        if flags & REQUEST != 0 {
            let request = RequestKey::read(&mut reader)?;
            // The facts may contain this request, too.
            if self.published.request_at(position).is_none() {
                self.published.remember(request, position, at);
            }
        }
        if flags & RESETS != 0 {
            self.reset_at(channel, position);
        }
        let departed = match flags & DEPARTED {
            0 => None,
            _ => Some(ParticipantId(reader.varint_u32()?)),
        };
        let (text, bytes) = (flags & TEXT != 0, reader.rest());
        if text && core::str::from_utf8(bytes).is_err() {
            return Err(Error::InvalidText { what: "stored text" });
        }
        let piece = Piece::new(flags & CONTINUES == 0, flags & GOES_ON != 0);
        let bytes = bytes.into();
        let to = None;
        Ok(Message { channel, sender, key, priority, departed, to, text, piece, bytes, born })
    }
}

/// Up to which participant those without an entry are forgotten, and for each other one its counter
/// and when it left.
type Known = (ParticipantId, BTreeMap<ParticipantId, (Counter, u64)>);

fn read_part(stored: StoredPart) -> Result<Part, Error> {
    let StoredPart { name, channels, as_of, content } = stored;
    let mut reader = Reader::new(&content, "stored part");
    if reader.u8()? != VERSION {
        return Err(reader.malformed());
    }
    let mut counters = Reader::new(reader.bytes(usize::MAX, "counters")?, "stored counters");
    let mut known = BTreeMap::new();
    while !counters.is_empty() {
        let participant = ParticipantId(counters.varint_u32()?);
        known.insert(participant, Counter(counters.varint_u32()?));
    }
    Ok(Part { name, channels, as_of, bytes: reader.rest().into(), counters: known })
}
