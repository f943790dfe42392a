//! A participant's transport, its open channels, and how far it has been sent the log.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::time::Duration;

use super::requests::Requests;
use super::stage::{Download, Joining, Offer, Stage, Upload};
use crate::link::Link;
use crate::room::feed::Feed;
use crate::room::feed::directs::DirectFeed;
use crate::room::feed::downsampling::Released;
use crate::room::feed::group::Place;
use crate::room::feed::private_datagrams::PrivateDatagrams;
use crate::room::feed::private_stream::{self, PrivateStream};
use crate::room::feed::shared_stream::{Member, Sharing, StreamKey};
use crate::room::inspector::Quality;
use crate::room::log::{Cursor, Log, Starts};
use crate::room::members::news::News;
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::room::subscriptions::{SubscriptionSet, Subscriptions};
use crate::wire::coding::Coding;
use crate::wire::frame::Frame;
use crate::wire::payload::SharedModel;
use crate::{ChannelNo, Counter, Kind, LinkId, Order, ParticipantId, Position};

/// See the [module](self).
pub(in crate::room) struct Connection {
    pub(in crate::room) id: LinkId,
    pub(in crate::room) link: Link,
    pub(in crate::room) channels: Subscriptions,
    pub(in crate::room) limits: RateLimits,
    /// Values of rate-limited channels whose turn has come.
    pub(in crate::room) released: Released,
    pub(in crate::room) stage: Stage,
    pub(in crate::room) stream: PrivateStream,
    pub(in crate::room) directs: DirectFeed,
    /// The model of this participant's encoder, as long as it equals the model of other newcomers.
    pub(in crate::room) model: Option<Arc<SharedModel>>,
    /// Whether the participant can share a stream with others.
    pub(in crate::room) sharing: Sharing,
    /// The participant's own datagrams; `None` if the transport has no datagrams.
    pub(in crate::room) datagrams: Option<PrivateDatagrams>,
    /// When datagrams to this participant are due: its entry in the room's timers.
    pub(in crate::room) datagrams_at: Option<Duration>,
    /// The participant's membership in fan-out groups; `None` if it cannot be in any.
    pub(in crate::room) place: Option<Place>,
    /// Aggregated values up to this order are not sent: they came before the participant joined.
    pub(in crate::room) present_from: Order,
    /// Participants whose changes (joined, left, presence) this one has not been sent yet.
    pub(in crate::room) changed: BTreeSet<ParticipantId>,
    /// The frames of the last tick about participants, if this participant has not been sent them and needs no other
    /// frames about participants.
    pub(in crate::room) news: Option<Arc<News>>,
    /// True if the next list of participants is complete: it replaces the list that this participant has.
    pub(in crate::room) is_list_complete: bool,
    /// True if the participant has to be sent the number of participants.
    pub(in crate::room) owes_count: bool,
    /// In a large room, the participants that this one was told of alone: in its complete list, and as the senders of messages
    /// from before its join (wire W104).
    pub(in crate::room) told: BTreeSet<ParticipantId>,
    /// This participant may not know the senders of messages up to this order; 0 if it knows all.
    pub(in crate::room) told_from: Order,
    /// The participant wants a page of those after this one (wire W105).
    pub(in crate::room) page_wanted: Option<ParticipantId>,
    /// False if it was sent a page since the last housekeeping.
    pub(in crate::room) may_page: bool,
    /// Channels whose QoS changed and whose new QoS this participant has not been sent yet.
    pub(in crate::room) renewed: BTreeSet<ChannelNo>,
    /// For each channel whose QoS cannot be met, the share of messages, in 1/1000, that will be lost or late at best. 0
    /// if the QoS can be met again.
    pub(in crate::room) outlook: BTreeMap<ChannelNo, u16>,
    /// The parts of the snapshot that the participant can make, by its own numbers (W95).
    pub(in crate::room) offers: BTreeMap<u32, Offer>,
    pub(in crate::room) upload: Upload,
    /// The number of the last part of the snapshot that the participant was sent.
    pub(in crate::room) parts_sent: u32,
    /// Channels that were opened late and whose older messages are to be sent: the participant has their transactions up to
    /// these positions (W18).
    pub(in crate::room) unfilled: BTreeMap<ChannelNo, Position>,
    /// Channels of which the participant needs transactions only from a position beyond its place in the log.
    pub(in crate::room) starts: Starts,
    /// While the participant catches up: the position up to which some transactions are not sent to it, and the counter of its
    /// own last one up to there.
    pub(in crate::room) reach: Option<(Position, Counter)>,
    pub(in crate::room) quality: Quality,
    pub(in crate::room) requests: Requests,
}

/// The parts of a connection that change while its stream is filled.
pub(super) struct StreamParts<'a> {
    pub(super) stream: &'a mut PrivateStream,
    pub(super) directs: &'a mut DirectFeed,
    pub(super) model: &'a mut Option<Arc<SharedModel>>,
    pub(super) released: &'a mut Released,
    pub(super) link: &'a mut Link,
    pub(super) told: &'a mut BTreeSet<ParticipantId>,
    pub(super) told_from: Order,
}

impl Connection {
    /// The connection of a participant that joins just now and has the log up to `position`. Messages up to `end` are late-joiner
    /// state.
    pub(in crate::room) fn new(id: LinkId, link: Link, position: Position, end: Cursor) -> Self {
        let late = BTreeSet::new();
        let datagrams = link.datagrams.is_some();
        Connection {
            id,
            link,
            channels: Subscriptions::default(),
            limits: RateLimits::default(),
            released: Released::default(),
            stage: Stage::Joining(Box::new(Joining {
                until: end,
                late,
                downloads: VecDeque::new(),
            })),
            stream: PrivateStream::new(position, end),
            directs: DirectFeed::default(),
            model: None,
            sharing: Sharing::default(),
            datagrams: datagrams.then(|| PrivateDatagrams { feed: Feed::at(end) }),
            datagrams_at: None,
            place: None,
            present_from: end.awareness,
            changed: BTreeSet::new(),
            news: None,
            is_list_complete: true,
            owes_count: false,
            told: BTreeSet::new(),
            told_from: Order(0),
            page_wanted: None,
            may_page: true,
            renewed: BTreeSet::new(),
            outlook: BTreeMap::new(),
            offers: BTreeMap::new(),
            upload: Upload::default(),
            parts_sent: 0,
            unfilled: BTreeMap::new(),
            starts: Starts::new(),
            reach: None,
            quality: Quality::default(),
            requests: Requests::default(),
        }
    }

    pub(in crate::room) fn joining(&self) -> Option<&Joining> {
        match &self.stage {
            Stage::Joining(joining) => Some(joining),
            _ => None,
        }
    }

    pub(in crate::room) fn is_joining(&self) -> bool {
        self.joining().is_some()
    }

    pub(in crate::room) fn download(&self) -> Option<&Download> {
        match &self.stage {
            Stage::Joining(joining) => joining.downloads.front(),
            Stage::CatchingUp(downloads) => downloads.front(),
            Stage::Live(_) => None,
        }
    }

    pub(in crate::room) fn member(&self) -> Option<&Member> {
        match &self.stage {
            Stage::Live(member) => member.as_ref(),
            _ => None,
        }
    }

    pub(in crate::room) fn member_mut(&mut self) -> Option<&mut Member> {
        match &mut self.stage {
            Stage::Live(member) => member.as_mut(),
            _ => None,
        }
    }

    pub(in crate::room) fn is_member(&self) -> bool {
        self.member().is_some()
    }

    /// Begins to send a part of the snapshot to the participant, after those that it is being sent.
    pub(in crate::room) fn begin_download(&mut self, download: Download) {
        match &mut self.stage {
            Stage::Joining(joining) => joining.downloads.push_back(download),
            Stage::CatchingUp(downloads) => downloads.push_back(download),
            stage @ Stage::Live(_) => *stage = Stage::CatchingUp([download].into()),
        }
    }

    /// Splits the connection into the receiver of its private stream and the parts that change while the stream is
    /// filled.
    pub(super) fn split(
        &mut self,
        id: ParticipantId,
    ) -> (private_stream::Receiver<'_>, StreamParts<'_>) {
        let is_member = self.is_member();
        let Connection {
            channels,
            limits,
            sharing,
            stage,
            stream,
            directs,
            model,
            released,
            link,
            starts,
            told,
            told_from,
            ..
        } = self;
        let receiver = private_stream::Receiver {
            id,
            channels,
            limits,
            covered: sharing.covered().filter(|_| is_member),
            max_datagram: link.max_datagram_in_use(),
            state_until: stage.state_until(),
            present_from: self.present_from,
            starts,
        };
        let told_from = *told_from;
        (receiver, StreamParts { stream, directs, model, released, link, told, told_from })
    }

    /// Lets the participant's private feeds send everything up to `until`, which is a tick's end of the log. Settled
    /// values have an end of their own ([`Connection::settle`]).
    pub(in crate::room) fn release(&mut self, until: Cursor) {
        self.stream.feed.until = until.with_settled(self.stream.feed.until.settled);
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.feed.until.awareness = until.awareness;
        }
    }

    /// Queues the changes of other participants and, with `counts`, the number of participants. `news`: the same
    /// frames, coded once for all participants, if they fit a packet.
    pub(in crate::room) fn tell_of(
        &mut self,
        id: ParticipantId,
        (changed, counts): (&BTreeSet<ParticipantId>, bool),
        news: Option<&Arc<News>>,
    ) {
        if let Some(before) = self.news.take() {
            self.changed.extend(&before.changed);
            self.owes_count |= before.counts;
        }
        // The frames for all are sent at once and do not wait behind older changes. They cannot be used if they contain
        // this participant.
        let takes_all = self.link.ready()
            && !self.link.has_control()
            && self.changed.is_empty()
            && !self.is_list_complete
            && !self.owes_count
            && !changed.contains(&id);
        match news.filter(|_| takes_all) {
            Some(news) => self.news = Some(Arc::clone(news)),
            None => {
                self.changed.extend(changed.iter().filter(|&&other| other != id));
                self.owes_count |= counts;
            }
        }
    }

    /// Queues the complete list of participants, because the room is no longer large (wire W103).
    pub(in crate::room) fn tell_of_all(&mut self, others: BTreeSet<ParticipantId>) {
        (self.changed, self.news) = (others, None);
        (self.is_list_complete, self.owes_count) = (true, true);
        (self.told, self.told_from) = (BTreeSet::new(), Order(0));
    }

    /// Lets the stream send settled values up to this order (W41).
    pub(in crate::room) fn settle(&mut self, until: Order) {
        self.stream.feed.until.settled = until;
    }

    /// Releases the values of rate-limited channels whose turn has come: the newest value of each key up to the last
    /// tick.
    pub(in crate::room) fn take_turns(&mut self, now: Duration, id: ParticipantId, log: &Log) {
        // Returns early because ticks are frequent and few receivers have rate limits.
        if self.limits.is_empty() {
            return;
        }
        let newest = self.stream.feed.until.awareness;
        let stream = self.split(id).0.stream();
        self.released.release(now, id, &mut self.limits, newest, stream, log);
    }

    /// The next turn of a rate-limited channel that has values to send.
    pub(in crate::room) fn next_turn(&self) -> Option<Duration> {
        self.limits.next_turn(self.stream.feed.until.awareness)
    }

    /// True if settled values may have to be sent over the stream.
    fn has_settled(&self) -> bool {
        let Feed { cursor, until } = self.stream.feed;
        self.datagrams.is_some() && cursor.settled < until.settled
    }

    /// True if messages up to the last tick have to be sent over the private stream.
    pub(in crate::room) fn has_due(&self) -> bool {
        let Feed { cursor, until } = self.stream.feed;
        if !self.released.stream.is_empty() || self.directs.is_due() {
            return true;
        }
        if self.is_member() {
            let has_news = cursor.awareness < until.awareness || self.has_settled();
            return self.sharing.has_private() && has_news;
        }
        cursor.awareness < until.awareness
            || cursor.log < until.log
            || !self.stream.history.is_empty()
            || self.has_settled()
    }

    /// True if messages up to the last tick have to be sent in datagrams to this participant alone.
    pub(in crate::room) fn has_due_datagrams(&self) -> bool {
        let feed = self.datagrams.as_ref().map(|datagrams| datagrams.feed);
        feed.is_some_and(|feed| feed.cursor.awareness < self.stream.feed.until.awareness)
            || !self.released.datagrams.is_empty()
    }

    /// True if there are control frames, a snapshot, a model piece or messages to send over the private stream.
    pub(in crate::room) fn has_anything(&self) -> bool {
        self.link.has_control() || self.has_anything_but_answer()
    }

    /// As [`Connection::has_anything`], without the answer to a ping.
    pub(in crate::room) fn has_anything_but_answer(&self) -> bool {
        self.link.has_frames()
            || self.download().is_some()
            || !self.changed.is_empty()
            || self.news.is_some()
            || !self.renewed.is_empty()
            || self.is_list_complete
            || self.owes_count
            || (self.may_page && self.page_wanted.is_some())
            || self.place.as_ref().is_some_and(Place::has_piece)
            || self.has_due()
    }

    /// Awareness up to this order was sent to the participant by its private feeds and its shared stream, so that the
    /// log need not keep it for this participant.
    pub(in crate::room) fn served(&self) -> Order {
        let shared = self.member().map_or(Order(u64::MAX), |member| member.awareness);
        let stream = self.stream.feed.cursor.awareness.min(shared);
        self.datagrams.as_ref().map_or(stream, |one| one.feed.cursor.awareness.min(stream))
    }

    /// A value that changes whenever a message of the private stream is sent or skipped.
    pub(in crate::room) fn progress(&self) -> (Cursor, usize, [Position; 2]) {
        let Connection { stream, released, directs, .. } = self;
        let waiting = stream.history.len() + released.stream.len();
        (stream.feed.cursor, waiting, directs.progress())
    }

    /// Queues a POSITION frame if the last position that the participant knows is before its place in the log.
    pub(in crate::room) fn announce_position(&mut self) {
        let place = self.stream.feed.cursor.log;
        let Some(coders) = self.link.coders.as_mut() else { return };
        if coders.encoder.numbering.position() < place {
            coders.encoder.numbering.advance(place);
            self.link.queue(&Frame::Position(place));
        }
    }

    /// Queues SYNCED frames for the join once everything that was in the room at the join has been sent.
    pub(in crate::room) fn say_synced(&mut self) {
        let cursor = self.stream.feed.cursor;
        let Stage::Joining(joining) = &self.stage else { return };
        let served = cursor.awareness >= joining.until.awareness
            && cursor.log >= joining.until.log
            && joining.downloads.is_empty()
            && self.stream.history.is_empty()
            && self.released.stream.is_empty()
            && !self.is_list_complete
            && self.changed.is_empty()
            && self.news.is_none();
        if !served {
            return;
        }
        self.link.queue(&Frame::Synced { channel: ChannelNo(0) });
        for &channel in &joining.late {
            self.link.queue(&Frame::Synced { channel });
        }
        self.stage = Stage::Live(None);
        // Few older messages follow now, and naming a sender twice does no harm.
        self.told = BTreeSet::new();
    }

    /// True if the participant was sent all transactions of its channels up to its place in the log, so that parts of the
    /// snapshot which it makes can replace them.
    pub(in crate::room) fn has_all_transactions(&self) -> bool {
        !self.is_joining()
            && self.download().is_none()
            && self.stream.history.is_empty()
            && self.unfilled.is_empty()
            && self.reach.is_none()
    }

    /// The awareness channels that the participant can receive in datagrams of a fan-out group. Channels with a codec
    /// of their own or a rate limit are not among them.
    pub(in crate::room) fn shareable(&self, log: &Log) -> SubscriptionSet {
        let shareable = self.channels.iter().filter(|(channel, opened)| {
            let qos = &log.channel(*channel).qos;
            opened.access.subscribe
                && qos.kind == Kind::Awareness
                && opened.compress.coding(qos) == Coding::Shared
                && !self.limits.contains(*channel)
        });
        shareable.map(|(channel, _)| channel).collect()
    }

    /// The key of the shared stream that the participant can join, if any.
    pub(in crate::room) fn find_stream_key(
        &mut self,
        now: Duration,
        log: &Log,
    ) -> Option<&Arc<StreamKey>> {
        let max_datagram = self.link.max_datagram_in_use();
        let transport = (max_datagram, self.link.max_packet(), self.link.stamps.agreed);
        self.sharing.find_key(now, (&self.channels, &self.limits), log, transport)
    }

    /// Queues the next piece of a group's model once the piece before it was sent (W71).
    pub(in crate::room) fn feed_model(&mut self) {
        if self.link.has_control() {
            return;
        }
        if let Some(piece) = self.place.as_mut().and_then(Place::next_piece) {
            self.link.queue(&Frame::Model {
                carrier: crate::trace::Carrier::Datagrams,
                group: piece.group,
                total: piece.total,
                offset: piece.offset,
                rest: piece.bytes,
            });
        }
    }

    /// Moves the private feeds to the order `until`: all values after `before` were sent to the participant's group, or
    /// are not for the participant.
    pub(in crate::room) fn pass_over(&mut self, before: Order, until: Order) {
        if let Some(datagrams) = self.datagrams.as_mut()
            && datagrams.feed.cursor.awareness >= before
        {
            datagrams.feed.cursor.awareness = until;
        }
        // While the participant joins, its stream cursor stays, as the stream sends values and transactions of the
        // late-joiner state in order.
        let is_joining = self.is_joining();
        let cursor = &mut self.stream.feed.cursor.awareness;
        if !is_joining && *cursor >= before {
            *cursor = until;
        }
    }
}
