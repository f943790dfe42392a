//! Decides which messages of the log a feed sends to its receivers. No other code decides that.

use alloc::collections::BTreeMap;
use core::time::Duration;

use super::message::{Transaction, Value};
use crate::datagrams::fits_datagram;
use crate::room::subscriptions::rate_limit::RateLimits;
use crate::room::subscriptions::{SubscriptionSet, Subscriptions};
use crate::{ChannelNo, Order, ParticipantId, Position};

/// Which messages of the log a feed sends.
#[derive(Clone, Copy)]
pub(in crate::room) struct Filter<'a> {
    pub(in crate::room) channels: Channels<'a>,
    pub(in crate::room) carries: Carries,
    /// The receiver, if the feed has only one. Its own values are not sent back to it. Its own
    /// transactions always are, as that confirms them. `None` for a feed that many receivers share:
    /// each receiver drops its own values itself.
    pub(in crate::room) receiver: Option<ParticipantId>,
    /// The messages that the receiver gets from a fan-out group. This feed leaves them out.
    pub(in crate::room) covered: Option<Covered<'a>>,
    /// Channels for which the receiver asked for a lower rate. The filter leaves out their values,
    /// which are sent when the turn of their channel comes (see [`RateLimits`]).
    pub(in crate::room) limits: Option<&'a RateLimits>,
    /// Values that have expired at this time are left out. `None`: expired values are not left out.
    pub(in crate::room) now: Option<Duration>,
    /// Aggregated values up to this order are left out if `now` is given: they came before the
    /// receiver joined.
    pub(in crate::room) present_from: Order,
    /// The positions from which the receiver needs transactions of some channels; `None`: from the
    /// beginning.
    pub(in crate::room) starts: Option<&'a Starts>,
    /// True if the walk includes the places of direct transactions (wire W114) from or to the
    /// receiver. Feeds of other transactions set it to false.
    pub(in crate::room) places: bool,
}

/// For some channels, the position up to which a receiver has their transactions, or a part that
/// replaces them, or was told that they can no longer be had. They are beyond the receiver's place
/// in the log.
pub(in crate::room) type Starts = BTreeMap<ChannelNo, Position>;

/// The channels whose messages a feed carries.
#[derive(Clone, Copy)]
pub(in crate::room) enum Channels<'a> {
    /// All channels that a participant receives.
    Open(&'a Subscriptions),
    /// The channels of a fan-out group.
    Set(&'a SubscriptionSet),
    /// The channels of a part, or one that was opened late.
    Few(&'a [ChannelNo]),
}

/// Which messages a feed sends, by the carrier that they take (the stream or datagrams).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::room) enum Carries {
    /// Transactions and values.
    All,
    /// Everything that takes the stream: all messages but values that fit a datagram of
    /// `max_datagram` bytes (`None`: the transport has no datagrams). Messages up to the order
    /// `state_until` are late-joiner state: they take the stream even if they fit a datagram.
    Stream { max_datagram: Option<usize>, state_until: Order },
    /// The values that [`Carries::Stream`] leaves to datagrams and that no newer value has replaced
    /// since (wire W41).
    Settled { max_datagram: usize, state_until: Order },
    /// Values that fit a datagram of at most `max` bytes.
    Datagrams { max: usize },
}

/// The messages that a receiver gets from a fan-out group: messages of `channels` that came after
/// the order `from` and have at most `max_size` bytes, key included.
#[derive(Clone, Copy)]
pub(in crate::room) struct Covered<'a> {
    pub(in crate::room) channels: &'a SubscriptionSet,
    pub(in crate::room) from: Order,
    pub(in crate::room) max_size: usize,
}

/// What a filter decides about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Carried,
    /// The feed would send the value, but it has expired or is older than [`Filter::present_from`].
    Late,
    /// The message is not for this feed.
    LeftOut,
}

impl<'a> Filter<'a> {
    /// A filter that lets through all messages of `channels` that `carries` includes, for any
    /// receiver.
    pub(in crate::room) fn new(channels: Channels<'a>, carries: Carries) -> Self {
        Filter {
            channels,
            carries,
            receiver: None,
            covered: None,
            limits: None,
            now: None,
            present_from: Order(0),
            starts: None,
            places: false,
        }
    }

    /// The receiver needs no transactions of the channel up to this position.
    pub(super) fn start(&self, channel: ChannelNo) -> Position {
        let start = self.starts.and_then(|starts| starts.get(&channel));
        start.copied().unwrap_or_default()
    }

    pub(super) fn carries_transaction(&self, one: &Transaction) -> bool {
        let is_own = self.receiver == Some(one.message.sender);
        if one.message.to.is_some() {
            return self.places && (is_own || self.receiver == one.message.to);
        }
        if one.position <= self.start(one.message.channel) {
            return false;
        }
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
            Channels::Few(few) => few.contains(&channel),
        }
    }
}

impl Carries {
    /// True if the value is one of these messages. A value is first sent either over the stream or
    /// in datagrams. A value that was sent in datagrams is also sent over the stream once it has
    /// settled (W41).
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
