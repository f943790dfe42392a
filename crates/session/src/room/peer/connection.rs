//! A participant's transport, its open channels, and how far it has been sent the log.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::time::Duration;

use super::requests::Requests;
use super::stage::{Download, Joining, Missing, Stage, Upload};
use crate::link::Link;
use crate::room::feed::Feed;
use crate::room::feed::downsampling::{Downsampling, Released};
use crate::room::feed::group::GroupMembership;
use crate::room::feed::participants::ParticipantsFeed;
use crate::room::feed::private_datagrams::PrivateDatagrams;
use crate::room::feed::private_stream::{self, PrivateStream};
use crate::room::feed::shared_stream::{Member, Sharing, StreamKey};
use crate::room::inspector::Quality;
use crate::room::log::{Cursor, Log};
use crate::room::subscriptions::{SubscriptionSet, Subscriptions};
use crate::wire::frame::Frame;
use crate::{ChannelNo, Kind, LinkId, Order, ParticipantId, Position};

/// See the [module](self).
pub(in crate::room) struct Connection {
    pub(in crate::room) id: LinkId,
    pub(in crate::room) link: Link,
    pub(in crate::room) channels: Subscriptions,
    pub(in crate::room) rates: Downsampling,
    pub(in crate::room) stage: Stage,
    pub(in crate::room) stream: PrivateStream,
    /// Whether the participant can share a stream with others.
    pub(in crate::room) sharing: Sharing,
    /// The participant's own datagrams; `None` if the transport has no datagrams.
    pub(in crate::room) datagrams: Option<PrivateDatagrams>,
    /// The participant's membership in fan-out groups; `None` if it cannot be in any.
    pub(in crate::room) place: Option<GroupMembership>,
    pub(in crate::room) participants: ParticipantsFeed,
    pub(in crate::room) notices: ChannelNotices,
    pub(in crate::room) missing: Missing,
    pub(in crate::room) upload: Upload,
    pub(in crate::room) quality: Quality,
    pub(in crate::room) requests: Requests,
}

/// What the participant has to be told of its channels.
#[derive(Default)]
pub(in crate::room) struct ChannelNotices {
    /// Channels whose QoS changed and whose new QoS the participant has not been sent yet.
    pub(in crate::room) renewed: BTreeSet<ChannelNo>,
    /// For each channel whose QoS cannot be met, the share of messages, in 1/1000, that will be
    /// lost or late at best. 0 if the QoS can be met again.
    pub(in crate::room) outlook: BTreeMap<ChannelNo, u16>,
}

/// The parts of a connection that change while its stream is filled.
pub(super) struct StreamParts<'a> {
    pub(super) stream: &'a mut PrivateStream,
    pub(super) released: &'a mut Released,
    pub(super) link: &'a mut Link,
    pub(super) participants: &'a mut ParticipantsFeed,
}

impl Connection {
    /// The connection of a participant that joins just now. Messages up to `end` are late-joiner
    /// state.
    pub(in crate::room) fn new(
        id: LinkId,
        link: Link,
        stream: PrivateStream,
        end: Cursor,
        participants: ParticipantsFeed,
    ) -> Self {
        let (late, downloads) = (BTreeSet::new(), VecDeque::new());
        let datagrams = link.datagrams.as_ref().map(|_| PrivateDatagrams::at(end));
        Connection {
            id,
            link,
            channels: Subscriptions::default(),
            rates: Downsampling::default(),
            stage: Stage::Joining(Box::new(Joining { until: end, late, downloads })),
            stream,
            sharing: Sharing::default(),
            datagrams,
            place: None,
            participants,
            notices: ChannelNotices::default(),
            missing: Missing::default(),
            upload: Upload::default(),
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

    /// Splits the connection into the receiver of its private stream and the parts that change
    /// while the stream is filled.
    pub(super) fn split(
        &mut self,
        id: ParticipantId,
    ) -> (private_stream::Receiver<'_>, StreamParts<'_>) {
        let is_member = self.is_member();
        let Connection {
            channels, rates, sharing, stage, stream, link, missing, participants, ..
        } = self;
        let Downsampling { limits, released } = rates;
        let receiver = private_stream::Receiver {
            id,
            channels,
            limits,
            covered: sharing.covered().filter(|_| is_member),
            max_datagram: link.max_datagram_in_use(),
            state_until: stage.state_until(),
            present_from: stream.present_from,
            starts: &missing.starts,
        };
        (receiver, StreamParts { stream, released, link, participants })
    }

    /// Lets the participant's private feeds send everything up to `until`, which is a tick's end of
    /// the log. Settled values have an end of their own ([`Connection::settle`]).
    pub(in crate::room) fn release(&mut self, until: Cursor) {
        self.stream.feed.until = until.with_settled(self.stream.feed.until.settled);
        self.release_values(until.awareness);
    }

    /// Lets the participant's private feeds send the values up to this order, between ticks.
    pub(in crate::room) fn release_values(&mut self, until: Order) {
        self.stream.feed.until.awareness = until;
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.feed.until.awareness = until;
        }
    }

    /// Lets the stream send settled values up to this order (W41).
    pub(in crate::room) fn settle(&mut self, until: Order) {
        self.stream.feed.until.settled = until;
    }

    /// Releases the values of rate-limited channels whose turn has come: the newest value of each
    /// key that is released.
    pub(in crate::room) fn take_turns(&mut self, now: Duration, id: ParticipantId, log: &Log) {
        // Returns early because ticks are frequent and few receivers have rate limits.
        if self.rates.limits.is_empty() {
            return;
        }
        let newest = self.stream.feed.until.awareness;
        let stream = self.split(id).0.stream();
        let Downsampling { limits, released } = &mut self.rates;
        released.release(now, id, limits, newest, stream, log);
    }

    /// The next turn of a rate-limited channel that has values to send.
    pub(in crate::room) fn next_turn(&self) -> Option<Duration> {
        self.rates.limits.next_turn(self.stream.feed.until.awareness)
    }

    /// True if settled values may have to be sent over the stream.
    fn has_settled(&self) -> bool {
        let Feed { cursor, until } = self.stream.feed;
        self.datagrams.is_some() && cursor.settled < until.settled
    }

    /// True if messages that are released have to be sent over the private stream.
    pub(in crate::room) fn has_due(&self) -> bool {
        let Feed { cursor, until } = self.stream.feed;
        if !self.rates.released.stream.is_empty() || self.stream.directs.is_due() {
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

    /// True if messages that are released have to be sent in datagrams to this participant alone.
    pub(in crate::room) fn has_due_datagrams(&self) -> bool {
        let feed = self.datagrams.as_ref().map(|datagrams| datagrams.feed);
        feed.is_some_and(|feed| feed.cursor.awareness < self.stream.feed.until.awareness)
            || !self.rates.released.datagrams.is_empty()
    }

    /// True if there are control frames, a snapshot, a model piece or messages to send over the
    /// private stream.
    pub(in crate::room) fn has_anything(&self) -> bool {
        self.link.has_control() || self.has_anything_but_answer()
    }

    /// As [`Connection::has_anything`], without the answer to a ping.
    pub(in crate::room) fn has_anything_but_answer(&self) -> bool {
        self.link.has_frames()
            || self.download().is_some()
            || self.participants.has_any()
            || !self.notices.renewed.is_empty()
            || self.place.as_ref().is_some_and(GroupMembership::has_piece)
            || self.has_due()
    }

    /// Awareness up to this order was sent to the participant by its private feeds and its shared
    /// stream, so that the log need not keep it for this participant.
    pub(in crate::room) fn served(&self) -> Order {
        let shared = self.member().map_or(Order(u64::MAX), |member| member.awareness);
        let stream = self.stream.feed.cursor.awareness.min(shared);
        self.datagrams.as_ref().map_or(stream, |one| one.feed.cursor.awareness.min(stream))
    }

    /// A value that changes whenever a message of the private stream is sent or skipped.
    pub(in crate::room) fn progress(&self) -> (Cursor, usize, [Position; 2]) {
        let Connection { stream, rates, .. } = self;
        let waiting = stream.history.len() + rates.released.stream.len();
        (stream.feed.cursor, waiting, stream.directs.progress())
    }

    /// Queues a POSITION frame if the last position that the participant knows is before its place
    /// in the log.
    pub(in crate::room) fn announce_position(&mut self) {
        let place = self.stream.feed.cursor.log;
        let Some(coders) = self.link.coders.as_mut() else { return };
        if coders.encoder.numbering.position() < place {
            coders.encoder.numbering.advance(place);
            self.link.queue(&Frame::Position(place));
        }
    }

    /// Queues SYNCED frames for the join once everything that was in the room at the join has been
    /// sent.
    pub(in crate::room) fn say_synced(&mut self) {
        let cursor = self.stream.feed.cursor;
        let Stage::Joining(joining) = &self.stage else { return };
        let served = cursor.awareness >= joining.until.awareness
            && cursor.log >= joining.until.log
            && joining.downloads.is_empty()
            && self.stream.history.is_empty()
            && self.rates.released.stream.is_empty()
            && self.participants.has_list();
        if !served {
            return;
        }
        self.link.queue(&Frame::Synced { channel: ChannelNo(0) });
        for &channel in &joining.late {
            self.link.queue(&Frame::Synced { channel });
        }
        self.stage = Stage::Live(None);
        self.participants.end_join();
    }

    /// True if the participant was sent all transactions of its channels up to its place in the
    /// log, so that parts of the snapshot which it makes can replace them.
    pub(in crate::room) fn has_all_transactions(&self) -> bool {
        !self.is_joining()
            && self.download().is_none()
            && self.stream.history.is_empty()
            && self.missing.unfilled.is_empty()
            && self.missing.reach.is_none()
    }

    /// The awareness channels that the participant can receive in datagrams of a fan-out group.
    /// Channels with a codec of their own or a rate limit are not among them.
    pub(in crate::room) fn shareable(&self, log: &Log) -> SubscriptionSet {
        let shareable = self.channels.iter().filter(|(channel, opened)| {
            let qos = &log.channel(*channel).qos;
            opened.access.subscribe
                && qos.kind == Kind::Awareness
                && opened.compress.is_shareable(qos)
                && !self.rates.limits.contains(*channel)
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
        self.sharing.find_key(now, (&self.channels, &self.rates.limits), log, transport)
    }

    /// Queues the next piece of a group's model once the piece before it was sent (W71).
    pub(in crate::room) fn feed_model(&mut self) {
        if self.link.has_control() {
            return;
        }
        if let Some(piece) = self.place.as_mut().and_then(GroupMembership::next_piece) {
            self.link.queue(&Frame::Model {
                carrier: crate::trace::Carrier::Datagrams,
                group: piece.group,
                total: piece.total,
                offset: piece.offset,
                rest: piece.bytes,
            });
        }
    }

    /// Moves the private feeds to the order `until`: all values after `before` were sent to the
    /// participant's group, or are not for the participant.
    pub(in crate::room) fn pass_over(&mut self, before: Order, until: Order) {
        if let Some(datagrams) = self.datagrams.as_mut()
            && datagrams.feed.cursor.awareness >= before
        {
            datagrams.feed.cursor.awareness = until;
        }
        // While the participant joins, its stream cursor stays, as the stream sends values and
        // transactions of the late-joiner state in order.
        let is_joining = self.is_joining();
        let cursor = &mut self.stream.feed.cursor.awareness;
        if !is_joining && *cursor >= before {
            *cursor = until;
        }
    }
}
