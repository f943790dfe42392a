//! Who can be sent the same octets as others (W60).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::super::journal::Stored;
use super::super::participant::{Connection, Opened};
use super::stream::SharedStream;
use super::{super::Channel, Shared};
use crate::Kind;
use crate::datagrams::goes_as_datagram;
use crate::ids::{ChannelNo, GroupId, Order, Position};
use crate::wire::body::Coding;

/// A member that could not follow, or has changed what it is sent, is not let in again before.
const STAYS_OUT: Duration = Duration::from_secs(2);

/// What receivers of a shared stream have in common. A model never spans two of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamAudience {
    /// By number, in order.
    channels: Vec<ChannelNo>,
    /// Octets of a datagram, where there are any: what fits one does not take the stream.
    pub(super) max_datagram: Option<usize>,
    pub(super) max_packet: usize,
    /// They know contracts (W79).
    pub(super) stamped: bool,
}

impl StreamAudience {
    pub(super) fn has(&self, channel: ChannelNo) -> bool {
        self.channels.binary_search(&channel).is_ok()
    }

    /// Whether a value takes the stream although there may be datagrams.
    pub(super) fn takes_stream(&self, message: &Stored) -> bool {
        let key = message.key.as_ref().map_or(0, |key| key.len());
        self.max_datagram
            .is_none_or(|max| !goes_as_datagram(max, message.channel, message.bytes.len(), key))
    }
}

/// A connection's part in shared streams.
#[derive(Debug, Default)]
pub(in crate::room) struct Membership {
    /// Both ends can (W10).
    agreed: bool,
    /// `None`: it was not looked at since its channels changed, or it can share with nobody.
    pub(super) audience: Option<Arc<StreamAudience>>,
    /// It is sent messages of other channels as well.
    pub(super) has_private: bool,
    pub(super) member: Option<Member>,
    /// It left, and nobody has looked since.
    pub(super) has_left: bool,
    /// Who has left is not let in again before.
    pub(super) not_before: Duration,
}

/// How far a member was sent the shared stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) class: GroupId,
    /// The number of the body that it is to be sent next.
    pub(super) next: u64,
    /// Awareness up to this order was among those before.
    pub(super) awareness: Order,
    /// Likewise awareness that rested (W41).
    pub(super) rested: Order,
    /// The last position that it was told, by a transaction or otherwise.
    pub(super) told: Position,
}

impl Membership {
    pub(in crate::room) fn new(agreed: bool) -> Self {
        Membership { agreed, ..Membership::default() }
    }

    pub(in crate::room) fn is_member(&self) -> bool {
        self.member.is_some()
    }

    /// Whether it is sent messages of channels that it shares with nobody.
    pub(in crate::room) fn has_private(&self) -> bool {
        self.has_private
    }

    /// Whether messages of this channel come to it with a class's.
    pub(in crate::room) fn covers(&self, channel: ChannelNo) -> bool {
        self.member.is_some() && self.audience.as_ref().is_some_and(|one| one.has(channel))
    }

    /// Order of awareness up to which a member was served.
    pub(in crate::room) fn served(&self) -> Option<Order> {
        self.member.map(|member| member.awareness)
    }

    pub(in crate::room) fn class(&self) -> Option<GroupId> {
        self.member.map(|member| member.class)
    }

    /// The stream of a member, and the number of the body that it is to be sent next.
    pub(super) fn stream<'a>(&self, shared: &'a Shared) -> Option<(&'a SharedStream, u64)> {
        let Member { class, next, .. } = self.member?;
        Some((shared.streams.get(&class)?, next))
    }

    /// Whether it shares with nobody, but could with these.
    pub(super) fn wants(&self, now: Duration, audience: &Arc<StreamAudience>) -> bool {
        self.member.is_none() && self.audience.as_ref() == Some(audience) && now >= self.not_before
    }

    pub(super) fn enter(&mut self, member: Member) {
        self.member = Some(member);
    }

    pub(super) fn leave(&mut self) -> Option<Member> {
        self.has_left |= self.member.is_some();
        self.member.take()
    }

    /// A model is larger than what it saves in less: who has left stays out for a while.
    fn stay_out(&mut self, now: Duration) {
        if core::mem::take(&mut self.has_left) {
            self.not_before = now + STAYS_OUT;
        }
    }

    /// A body went, whose last transaction has this position, if it has one.
    pub(super) fn sent(&mut self, position: Position) {
        if let Some(member) = self.member.as_mut() {
            member.next += 1;
            member.told = member.told.max(position);
        }
    }

    pub(super) fn served_to(&mut self, awareness: Order, rested: Order) {
        if let Some(member) = self.member.as_mut() {
            (member.awareness, member.rested) = (awareness, rested);
        }
    }

    /// It is told that it stands at this position.
    pub(super) fn tell(&mut self, position: Position) {
        if let Some(member) = self.member.as_mut() {
            member.told = position;
        }
    }

    /// The position that a member knows.
    pub(in crate::room) fn told(&self) -> Option<Position> {
        self.member.map(|member| member.told)
    }
}

impl Connection {
    /// Looks whom it can share with, unless that is known.
    pub(super) fn find_audience(
        &mut self,
        now: Duration,
        channels: &[Channel],
    ) -> Option<&Arc<StreamAudience>> {
        self.membership.stay_out(now);
        if self.membership.audience.is_none() && self.membership.agreed {
            self.membership.audience = self.audience(channels).map(Arc::new);
        }
        self.membership.audience.as_ref()
    }

    fn audience(&mut self, channels: &[Channel]) -> Option<StreamAudience> {
        let mut shared = Vec::new();
        self.membership.has_private = false;
        for (&id, &Opened { access, compress }) in &self.channels {
            let qos = &channels.get(id.place())?.qos;
            let is_thinned = self.thinned.contains_key(&id);
            if access.subscribe && compress.coding(qos) == Coding::Shared && !is_thinned {
                shared.push(id);
            } else if qos.kind == Kind::Transaction {
                // Transactions come in one order, so that they all take one way.
                return None;
            } else {
                self.membership.has_private |= access.subscribe;
            }
        }
        let max_datagram = self.link.datagrams.as_ref().map(|_| self.link.max_datagram);
        let max_packet = self.link.max_packet();
        let stamped = self.link.stamps.agreed;
        let channels = shared;
        let is_any = !channels.is_empty();
        is_any.then_some(StreamAudience { channels, max_datagram, max_packet, stamped })
    }
}
