//! One channel of a client.

use alloc::string::String;
use core::time::Duration;

use super::api::ChannelOptions;
use super::pieces::Received;
use super::values::Values;
use crate::contract::Judge;
use crate::ids::{ChannelNo, Index, Position};
use crate::link::Link;
use crate::wire::coding::Coding;
use crate::wire::frame::{Access, Frame};
use crate::{ChannelStats, Compress, Qos, Rate};

/// How far the application has closed a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The application uses the channel.
    Open,
    /// The channel will be closed when all messages sent on it are confirmed.
    Closing,
    /// The channel is not opened on any transport until the application opens it again.
    Closed,
}

/// Whether OPEN was sent on this transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    No,
    /// Together with HELLO.
    WithHello,
    Later,
}

/// A channel as this client knows it.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) name: String,
    /// The QoS that the application asked for, then the one that the server stated.
    pub(super) qos: Qos,
    pub(super) stage: Stage,
    pub(super) access: Access,
    pub(super) compress: Compress,
    /// The compression that this end last announced to the server on this transport.
    pub(super) announced: Compress,
    pub(super) stats: ChannelStats,
    /// Judges received messages by the QoS contract.
    pub(super) judge: Judge,
    /// Another QoS that the application asked for, until the server has answered.
    pub(super) wish: Option<Qos>,
    /// The largest rate at which the application wants values of one key; zero: all values.
    pub(super) limit: Rate,
    /// The room's number for it on this transport.
    pub(super) id: Option<ChannelNo>,
    /// The server refused to open it.
    pub(super) refused: bool,
    /// Late-joiner state is complete: all transactions of this channel up to the session's position
    /// were delivered.
    pub(super) synced: bool,
    pub(super) asked: Asked,
    pub(super) received: Received,
    /// The time from which on the maximum rate permits the next message.
    pub(super) next_slot: Duration,
    pub(super) values: Values,
}

impl Channel {
    pub(super) fn new(name: String, qos: Qos, options: ChannelOptions, have: Position) -> Self {
        let ChannelOptions { access, compress } = options;
        Channel {
            name,
            qos,
            stage: Stage::Open,
            access,
            compress,
            announced: compress,
            stats: ChannelStats::default(),
            judge: Judge::default(),
            wish: None,
            limit: Rate::ZERO,
            id: None,
            refused: false,
            synced: false,
            asked: Asked::No,
            received: Received::new(have),
            next_slot: Duration::ZERO,
            values: Values::new(Index(0)),
        }
    }

    /// A channel that was closed and is opened again. Its position in the log and its awareness
    /// indices continue, because the room and the other participants remember them.
    pub(super) fn opened_again(&self, qos: Qos, options: ChannelOptions) -> Self {
        debug_assert!(
            self.stage == Stage::Closed && self.values.queue.is_empty(),
            "it was sent all"
        );
        let values = Values::new(self.values.index);
        Channel { values, ..Channel::new(self.name.clone(), qos, options, self.received.have) }
    }

    /// Queues OPEN. `at`: its place among the session's channels; `position`: the newest
    /// transaction that the session has delivered.
    pub(super) fn open(&mut self, at: usize, position: Position, link: &mut Link) {
        self.announced = self.compress;
        self.asked = Asked::Later;
        link.queue(&Frame::Open {
            reference: at as u32,
            access: self.access,
            name: &self.name,
            qos: self.qos,
            have: match self.synced {
                true => position.max(self.received.have),
                false => self.received.have,
            },
            compress: self.compress,
        });
    }

    /// Tells the server how the channel is compressed, if that changed and the server has numbered
    /// the channel.
    pub(super) fn announce_compress(&mut self, link: &mut Link) {
        if let Some(id) = self.id.filter(|_| self.announced != self.compress) {
            self.announced = self.compress;
            link.queue(&Frame::Compress { id, compress: self.compress });
        }
    }

    /// True if this end has the transactions of the channel up to this position and no later ones,
    /// and no transaction in part.
    pub(super) fn is_complete_at(&self, position: Position) -> bool {
        self.synced && self.received.is_complete_at(position)
    }

    /// True if this end may publish on the channel, now or over a later transport.
    pub(super) fn may_send(&self) -> bool {
        self.access.publish && !self.refused
    }

    /// True if the server has opened the channel on this transport, and this end may publish on it.
    pub(super) fn takes_messages(&self) -> bool {
        self.id.is_some() && self.access.publish
    }

    /// How payloads that carry its messages are coded.
    pub(super) fn coding(&self) -> Coding {
        self.compress.coding(&self.qos)
    }

    /// A message is sent: the next one may go after the interval of the maximum rate.
    pub(super) fn use_slot(&mut self, now: Duration) {
        if self.next_slot <= now {
            // The next slot counts from the planned slot, not from now: timers are late, and a
            // sender at the highest rate would fall behind with each late timer.
            let interval = self.qos.interval();
            let next = self.next_slot + interval;
            self.next_slot = if next > now { next } else { now + interval };
        }
    }
}
