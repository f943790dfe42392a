//! Streams that many receivers share (wire W60 to W66): the messages of each tick are coded once
//! for all receivers, and the last payloads are kept for slow receivers.

mod sharing;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub(in crate::room) use sharing::{Member, Sharing};

use crate::room::feed::carry::Feed;
use crate::room::log::{Carries, Channels, Cursor, Filter, Item, Log, Message, NotInMemory};
use crate::room::subscriptions::SubscriptionSet;
use crate::stamps::Stamps;
use crate::trace::{Carrier, Part, Purpose};
use crate::wire::frame::Frame;
use crate::wire::payload::PayloadEncoder;
use crate::wire::record::Number;
use crate::{Error, GroupId, Order, ParticipantId, Position};

/// The most payloads that are kept: about one second at a tick of 40 ms. A receiver that is further
/// behind leaves the stream and is sent only the newest values.
const MAX_PAYLOADS: usize = 32;

/// The most bytes of payloads that are kept. The newest payload is kept whatever its size.
const MAX_BYTES: usize = 256 << 10;

/// Once this many bytes were coded at a tick, further messages wait for the next tick, so that the
/// members' transports have time to send them.
const MOST_AT_ONCE: usize = MAX_BYTES / 4;

/// The number of pairs of sender and channel at which the encoder's numbering is restarted. Clients
/// accept more pairs (W22).
const MAX_PAIRS: usize = 1 << 16;

/// The shortest time between two model snapshots of a stream: each makes all its members compact
/// their models, which takes some milliseconds.
const MODEL_SPACING: Duration = Duration::from_secs(1);

/// The most bytes of a model in one frame, so that other frames still fit into the smallest packet.
const PIECE: usize = 4 << 10;

/// The properties in which all receivers of a shared stream agree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::room) struct StreamKey {
    pub(in crate::room) channels: SubscriptionSet,
    /// The most bytes of a datagram, if the receivers have datagrams. Values that fit a datagram
    /// are not sent over the stream.
    pub(in crate::room) max_datagram: Option<usize>,
    pub(in crate::room) max_packet: usize,
    /// True if the receivers support CONTRACT frames. Payloads then carry stamps, the times at
    /// which they were sent (W79).
    pub(in crate::room) stamped: bool,
}

/// The shared streams of a room.
#[derive(Default)]
pub(in crate::room) struct SharedStreams {
    streams: BTreeMap<GroupId, SharedStream>,
    /// The last group number that was given out.
    last: GroupId,
    /// The end of the log up to which the streams may code messages.
    pub(in crate::room) until: Cursor,
}

impl SharedStreams {
    pub(in crate::room) fn get(&self, group: GroupId) -> Option<&SharedStream> {
        self.streams.get(&group)
    }

    pub(in crate::room) fn get_mut(&mut self, group: GroupId) -> Option<&mut SharedStream> {
        self.streams.get_mut(&group)
    }

    pub(in crate::room) fn iter(&self) -> impl ExactSizeIterator<Item = (GroupId, &SharedStream)> {
        self.streams.iter().map(|(&group, stream)| (group, stream))
    }

    /// The number of payloads that all present streams have made.
    pub(in crate::room) fn coded(&self) -> u64 {
        self.streams.values().map(SharedStream::end).sum()
    }

    pub(in crate::room) fn begin(&mut self, key: Arc<StreamKey>) -> GroupId {
        self.last = GroupId(self.last.get().wrapping_add(1));
        self.streams.insert(self.last, SharedStream::new(key, self.until));
        self.last
    }

    pub(in crate::room) fn end(&mut self, group: GroupId) {
        self.streams.remove(&group);
    }

    /// Codes the messages up to `until`, once for every stream. Returns whether everything was
    /// coded, and the streams that cannot go on because messages they lack are no longer in memory
    /// or coding failed.
    pub(in crate::room) fn encode(
        &mut self,
        now: Duration,
        log: &Log,
        is_inspected: bool,
    ) -> (bool, Vec<GroupId>) {
        let (mut is_all, mut broken) = (true, Vec::new());
        for (&group, stream) in &mut self.streams {
            stream.feed.until = self.until;
            match stream.encode(now, log, is_inspected) {
                Ok(done) => is_all &= done,
                Err(_) => broken.push(group),
            }
        }
        (is_all, broken)
    }

    /// Bytes of the payloads that are kept.
    pub(in crate::room) fn memory(&self) -> usize {
        self.streams.values().map(|stream| stream.bytes).sum()
    }
}

/// A payload for all members.
pub(in crate::room) struct SharedPayload {
    /// The payload's frame with its tag. In some payloads, a CONTRACT frame with the time of
    /// sending (a stamp) comes before it.
    pub(in crate::room) bytes: Arc<[u8]>,
    /// The length of the stamp in `bytes`; 0 without one.
    stamp: usize,
    /// The stream's place in the log after this payload.
    pub(in crate::room) after: Cursor,
    pub(in crate::room) contents: Contents,
}

/// The messages of a payload, as statistics count them.
#[derive(Default)]
pub(in crate::room) struct Contents {
    /// The position of its last transaction; 0 if it has none.
    pub(in crate::room) position: Position,
    counts: Counts,
    /// The messages of each sender, in the order of the senders' numbers.
    own: Vec<(ParticipantId, Counts)>,
    /// The messages of the payload, if the inspector is open.
    pub(in crate::room) parts: Vec<Part>,
}

/// Messages and their bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::room) struct Counts {
    pub(in crate::room) messages: u64,
    pub(in crate::room) bytes: u64,
}

/// See the [module](self).
pub(in crate::room) struct SharedStream {
    pub(in crate::room) key: Arc<StreamKey>,
    pub(in crate::room) feed: Feed,
    encoder: PayloadEncoder,
    stamps: Stamps,
    payloads: VecDeque<SharedPayload>,
    /// Bytes of the payloads that are kept.
    bytes: usize,
    /// The number of the first payload that is kept.
    first: u64,
    /// When the next model may be made.
    next_model: Duration,
}

/// Why a shared stream cannot go on.
enum Broken {
    NotInMemory,
    Coding,
}

impl SharedStream {
    fn new(key: Arc<StreamKey>, at: Cursor) -> Self {
        SharedStream {
            stamps: Stamps::new(key.stamped),
            key,
            feed: Feed::at(at),
            encoder: PayloadEncoder::for_group(),
            payloads: VecDeque::new(),
            bytes: 0,
            first: 0,
            next_model: Duration::ZERO,
        }
    }

    /// The number of the first payload that is kept.
    pub(in crate::room) fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next payload will have.
    pub(in crate::room) fn end(&self) -> u64 {
        self.first + self.payloads.len() as u64
    }

    pub(in crate::room) fn payload(&self, number: u64) -> Option<&SharedPayload> {
        self.payloads.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Codes the messages up to `feed.until`. Returns false if some are left for the next tick.
    fn encode(&mut self, now: Duration, log: &Log, is_inspected: bool) -> Result<bool, Broken> {
        let mut made = 0;
        loop {
            let mut contents = Contents::default();
            let is_all = self.collect(now, log, is_inspected, &mut contents)?;
            if !self.encoder.is_empty() {
                made += self.finish(now, contents)?;
            }
            if is_all || made >= MOST_AT_ONCE {
                return Ok(is_all);
            }
        }
    }

    pub(in crate::room) fn makes_models(&self, now: Duration) -> bool {
        now >= self.next_model || !self.encoder.has_model()
    }

    /// The model as of now, as frames for the receivers that enter the `group`.
    pub(in crate::room) fn model(
        &mut self,
        now: Duration,
        group: GroupId,
    ) -> Result<Vec<Vec<u8>>, Error> {
        if self.encoder.has_model() {
            self.begin_anew()?;
            self.next_model = now + MODEL_SPACING;
        }
        model_frames(group, &self.encoder.model())
    }

    /// Restarts the numbering if it has too many pairs of sender and channel, so that its memory
    /// stays bounded when many participants come and go.
    pub(in crate::room) fn tidy(&mut self) -> Result<(), Error> {
        match self.encoder.numbering.pairs() {
            0..MAX_PAIRS => Ok(()),
            _ => self.begin_anew(),
        }
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        let mut bytes = Vec::new();
        self.encoder.begin_anew(&mut bytes)?;
        self.keep(bytes, 0, Contents::default());
        Ok(())
    }

    /// Collects the records of a payload: values that have settled (W41), then transactions and
    /// awareness in the order in which they came. Returns false if there is more than fits.
    fn collect(
        &mut self,
        now: Duration,
        log: &Log,
        is_inspected: bool,
        contents: &mut Contents,
    ) -> Result<bool, Broken> {
        let SharedStream { key, feed, encoder, .. } = self;
        let channels = Channels::Set(&key.channels);
        let mut pushing = Pushing { now, log, key, encoder, contents, is_inspected };
        if let Some(max_datagram) = key.max_datagram {
            let carries = Carries::Settled { max_datagram, state_until: Order(0) };
            let mut settled = Feed { until: feed.until.with_log(feed.cursor.log), ..*feed };
            let filter = Filter::new(channels, carries);
            let carried = settled.carry(log, filter, |item| pushing.push(item))?;
            feed.cursor.settled = settled.cursor.settled;
            if !carried.is_all {
                return Ok(false);
            }
        }
        feed.cursor.settled = feed.cursor.settled.max(feed.until.settled);
        let carries = Carries::Stream { max_datagram: key.max_datagram, state_until: Order(0) };
        let filter = Filter { now: Some(now), ..Filter::new(channels, carries) };
        let carried = feed.carry(log, filter, |item| pushing.push(item))?;
        Ok(carried.is_all)
    }

    /// Codes what was collected and returns how many bytes that makes.
    fn finish(&mut self, now: Duration, contents: Contents) -> Result<usize, Error> {
        let mut bytes = Vec::new();
        self.encoder.finish_shared(&mut bytes)?;
        let payload = bytes.len();
        // W79: the stamp lets the receiver measure how late the payload is, including the time that
        // it waited here for a slow receiver.
        let is_timed = self.encoder.take_timed();
        self.stamps.write(now, usize::MAX, is_timed, &mut bytes, 0);
        let size = bytes.len();
        self.keep(bytes, size - payload, contents);
        Ok(size)
    }

    fn keep(&mut self, bytes: Vec<u8>, stamp: usize, contents: Contents) {
        self.bytes += bytes.len();
        let after = self.feed.cursor;
        self.payloads.push_back(SharedPayload { bytes: bytes.into(), stamp, after, contents });
        while self.payloads.len() > MAX_PAYLOADS
            || (self.bytes > MAX_BYTES && self.payloads.len() > 1)
        {
            let Some(dropped) = self.payloads.pop_front() else { return };
            self.bytes -= dropped.bytes.len();
            self.first += 1;
        }
    }
}

/// Adds messages to a payload.
struct Pushing<'a> {
    now: Duration,
    log: &'a Log,
    key: &'a StreamKey,
    encoder: &'a mut PayloadEncoder,
    contents: &'a mut Contents,
    is_inspected: bool,
}

impl Pushing<'_> {
    /// Adds a message. Returns false if it does not fit and belongs into the next payload.
    fn push(&mut self, item: Item<'_>) -> bool {
        let (message, number, index) = match item {
            Item::Transaction(one) => {
                let number = Number::Transaction { counter: one.counter, position: one.position };
                (&one.message, number, one.counter.get())
            }
            Item::Value(_, one) => {
                let number = Number::Awareness { index: one.index, after: one.after };
                (&one.message, number, one.index.get())
            }
        };
        let fits = self.encoder.fits(message.bytes.len(), self.key.max_packet);
        if !fits && !self.encoder.is_empty() {
            return false;
        }
        let record = message.record(self.now, number);
        self.encoder.push(&record);
        self.encoder.note_qos(&self.log.channel(message.channel).qos);
        self.contents.count(message);
        if let Item::Transaction(one) = item {
            self.contents.position = one.position;
        }
        if self.is_inspected {
            let (channel, sender, before) = (message.channel, message.sender, message.bytes.len());
            let (purpose, age) = (Purpose::New, record.age);
            let part = Part { channel, sender, index, purpose, before, age, cost: None };
            self.contents.parts.push(part);
        }
        true
    }
}

impl SharedPayload {
    /// Appends the payload as frames with lengths, so that further frames can follow.
    pub(in crate::room) fn write(&self, out: &mut Vec<u8>) {
        let (stamp, payload) = self.bytes.split_at(self.stamp);
        out.extend_from_slice(stamp);
        Frame::Shared(&payload[1..]).write(out);
    }
}

impl Contents {
    /// The messages that a participant gets from the payload: all but its own.
    pub(in crate::room) fn counts(&self, participant: ParticipantId) -> Counts {
        let own = self.own.binary_search_by_key(&participant, |(sender, _)| *sender);
        let own = own.map_or(Counts::default(), |at| self.own[at].1);
        let Counts { messages, bytes } = self.counts;
        Counts { messages: messages - own.messages, bytes: bytes - own.bytes }
    }

    /// The messages that `members` receivers of the payload get together: all but their own.
    /// `is_receiver`: whether a participant is one of them.
    pub(in crate::room) fn counts_of(
        &self,
        members: u64,
        is_receiver: impl Fn(ParticipantId) -> bool,
    ) -> Counts {
        let Counts { messages, bytes } = self.counts;
        let all = Counts { messages: messages * members, bytes: bytes * members };
        let own = self.own.iter().filter(|(sender, _)| is_receiver(*sender));
        own.fold(all, |sum, (_, own)| Counts {
            messages: sum.messages - own.messages,
            bytes: sum.bytes - own.bytes,
        })
    }

    fn count(&mut self, message: &Message) {
        let at = match self.own.binary_search_by_key(&message.sender, |(sender, _)| *sender) {
            Ok(at) => at,
            Err(at) => {
                self.own.insert(at, (message.sender, Counts::default()));
                at
            }
        };
        for counts in [&mut self.counts, &mut self.own[at].1] {
            counts.messages += 1;
            counts.bytes += message.bytes.len() as u64;
        }
    }
}

impl From<NotInMemory> for Broken {
    fn from(_: NotInMemory) -> Self {
        Broken::NotInMemory
    }
}

impl From<Error> for Broken {
    fn from(_: Error) -> Self {
        Broken::Coding
    }
}

fn model_frames(group: GroupId, model: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let limit = crate::limits::MAX_MODEL;
    if model.len() > limit {
        return Err(Error::TooLarge { what: "model", size: model.len(), limit });
    }
    let total = model.len() as u32;
    // An empty model is sent as one empty piece.
    let offsets = (0..model.len().max(1)).step_by(PIECE);
    let pieces = offsets.map(|offset| {
        let rest = &model[offset..model.len().min(offset + PIECE)];
        let mut frame = Vec::new();
        let offset = offset as u32;
        Frame::Model { carrier: Carrier::Stream, group, total, offset, rest }.write(&mut frame);
        frame
    });
    Ok(pieces.collect())
}
