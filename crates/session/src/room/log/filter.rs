//! Which messages of the log are for a feed: the one place that decides who is sent what.

use core::time::Duration;

use super::message::{Transaction, Value};
use crate::datagrams::fits_datagram;
use crate::room::rate_limit::RateLimits;
use crate::room::subscriptions::{SubscriptionSet, Subscriptions};
use crate::{ChannelNo, Order, ParticipantId};

/// What a feed carries of the messages that are due.
#[derive(Clone, Copy)]
pub(in crate::room) struct Filter<'a> {
    pub(in crate::room) channels: Channels<'a>,
    pub(in crate::room) carries: Carries,
    /// The feed's only receiver. Its own values are not sent back to it; its own transactions always are, as that confirms
    /// them. `None`: the receivers of a group drop their own values themselves.
    pub(in crate::room) receiver: Option<ParticipantId>,
    /// What a fan-out group brings to the receiver.
    pub(in crate::room) covered: Option<Covered<'a>>,
    /// Channels of which the receiver asked for fewer values: these have turns of their own.
    pub(in crate::room) limits: Option<&'a RateLimits>,
    /// Values that expired by now are left out; `None` leaves them in.
    pub(in crate::room) now: Option<Duration>,
    /// Aggregated values up to this order were meant for the participants who were present then.
    pub(in crate::room) present_from: Order,
}

/// The channels whose messages a feed carries.
#[derive(Clone, Copy)]
pub(in crate::room) enum Channels<'a> {
    /// All that a participant receives.
    Open(&'a Subscriptions),
    /// Those of a fan-out group.
    Set(&'a SubscriptionSet),
    One(ChannelNo),
}

/// The part of the messages that takes the feed's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) enum Carries {
    /// Transactions and values.
    All,
    /// All but the values that go as datagrams of at most `max_datagram` bytes, if there are datagrams. Up to the order
    /// `state_until` everything is late-joiner state, which takes the stream.
    Stream { max_datagram: Option<usize>, state_until: Order },
    /// The values that [`Carries::Stream`] leaves to datagrams and that no newer value has replaced since (wire W41).
    Settled { max_datagram: usize, state_until: Order },
    /// Values that fit a datagram of at most `max` bytes.
    Datagrams { max: usize },
}

/// The messages that a fan-out group brings: those of these channels which came after the order `from` and have at most
/// `max_size` bytes, key included.
#[derive(Clone, Copy)]
pub(in crate::room) struct Covered<'a> {
    pub(in crate::room) channels: &'a SubscriptionSet,
    pub(in crate::room) from: Order,
    pub(in crate::room) max_size: usize,
}

/// What a filter says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Carried,
    /// It would be carried, but its time is over.
    Late,
    /// It is not for this feed.
    LeftOut,
}

impl<'a> Filter<'a> {
    /// Everything of these channels, for everybody.
    pub(in crate::room) fn new(channels: Channels<'a>, carries: Carries) -> Self {
        Filter {
            channels,
            carries,
            receiver: None,
            covered: None,
            limits: None,
            now: None,
            present_from: Order(0),
        }
    }

    pub(super) fn carries_transaction(&self, one: &Transaction) -> bool {
        let is_own = self.receiver == Some(one.message.sender);
        match self.carries {
            Carries::Stream { .. } => is_own || self.channels.contains(one.message.channel),
            Carries::All => self.channels.contains(one.message.channel),
            Carries::Settled { .. } | Carries::Datagrams { .. } => false,
        }
    }

    pub(super) fn judge(&self, order: Order, value: &Value) -> Verdict {
        let channel = value.message.channel;
        if self.receiver == Some(value.message.sender)
            || !self.channels.contains(channel)
            || !self.carries.takes(order, value)
            || self.covered.is_some_and(|covered| covered.brings(order, value))
            || self.limits.is_some_and(|limits| limits.contains(channel))
        {
            return Verdict::LeftOut;
        }
        let is_late = |now: Duration| {
            value.expires.is_some_and(|expires| expires <= now || order <= self.present_from)
        };
        if self.now.is_some_and(is_late) { Verdict::Late } else { Verdict::Carried }
    }
}

impl Channels<'_> {
    fn contains(&self, channel: ChannelNo) -> bool {
        match self {
            Channels::Open(open) => open.receives(channel).is_some(),
            Channels::Set(set) => set.contains(channel),
            Channels::One(one) => *one == channel,
        }
    }
}

impl Carries {
    /// Whether the value takes this way. A value takes either the stream or datagrams; once it has settled, a value that went in
    /// datagrams takes the stream as well.
    pub(in crate::room) fn takes(self, order: Order, value: &Value) -> bool {
        let message = &value.message;
        let fits = |max: usize| {
            fits_datagram(max, message.channel, message.bytes.len(), message.key_size())
        };
        match self {
            Carries::All => true,
            Carries::Stream { max_datagram, state_until } => {
                order <= state_until || !max_datagram.is_some_and(fits)
            }
            Carries::Settled { max_datagram, state_until } => {
                order > state_until && fits(max_datagram) && value.expires.is_none()
            }
            Carries::Datagrams { max } => fits(max),
        }
    }
}

impl Covered<'_> {
    fn brings(&self, order: Order, value: &Value) -> bool {
        order > self.from
            && value.message.size() <= self.max_size
            && self.channels.contains(value.message.channel)
    }
}
