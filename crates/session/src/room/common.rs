//! The state of a room that all its participants share. It consists of parts, so that a function
//! can be handed only those that it may touch.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::accounting::Accounting;
use super::api::Config;
use super::attention::Attention;
use super::delivery::Delivery;
use super::intake::Intake;
use super::log::Log;
use super::members::Members;
use super::mirror::Upward;
use super::permissions::Permissions;
use super::storage::storing::Storing;
use super::timers::Timers;
use crate::wire::payload::Batch;
use crate::{Authority, ChannelNo, Durability, ParticipantId};

/// See the [module](self).
pub(super) struct Common {
    pub(super) config: Config,
    pub(super) permissions: Permissions,
    /// The time of the present input.
    pub(super) now: Duration,
    pub(super) log: Log,
    /// In a mirror: what goes to the room of which it is one.
    pub(super) upward: Option<Box<Upward>>,
    /// The state of storing; `None` if the room is not stored.
    pub(super) storing: Option<Storing>,
    pub(super) members: Members,
    pub(super) intake: Intake,
    /// Buffer for the records of a received payload until they are published.
    pub(super) batch: Batch,
    pub(super) delivery: Delivery,
    pub(super) accounting: Accounting,
    pub(super) timers: Timers,
    pub(super) attention: Attention,
    /// The changes to other participants that the present input makes. The room carries them out
    /// after it.
    pub(super) effects: Vec<Effect>,
}

/// A change that a participant's input makes to other participants or to the room. The room carries
/// it out after it handled the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The QoS of a channel changed: all participants that have it open are sent the new one.
    Changed(ChannelNo),
    /// A chunk of a part of the snapshot came: the participant that sends it is given more time.
    SnapshotComes,
    /// A complete part of the snapshot came: answers of other participants are not needed any more.
    SnapshotCame,
    /// A rate limit changed: the time of the next turn of rate-limited values has to be found
    /// again.
    TurnsMoved,
    /// The participant sent BYE.
    Left(ParticipantId),
}

impl Common {
    pub(super) fn new(config: Config, authority: Box<dyn Authority + Send>) -> Self {
        let is_stored = config.durability != Durability::Memory;
        Common {
            permissions: Permissions::new(&config.name, authority),
            now: Duration::ZERO,
            log: match is_stored {
                true => Log::new_stored(config.incarnation, config.limits.clone()),
                false => Log::new(config.incarnation, config.limits.clone()),
            },
            upward: None,
            storing: is_stored.then(Storing::default),
            members: Members::new(config.announce_everybody_up_to),
            intake: Intake::new(config.limits.max_volatile_bytes),
            batch: Batch::default(),
            delivery: Delivery::new(&config),
            accounting: Accounting::default(),
            timers: Timers::new(config.timing.tick),
            attention: Attention::default(),
            effects: Vec::new(),
            config,
        }
    }

    /// Bytes of memory that the room takes, about.
    pub(super) fn memory(&self) -> usize {
        let upward = self.upward.as_ref().map_or(0, |upward| upward.memory());
        self.log.memory() + self.intake.pieces.memory() + self.delivery.memory() + upward
    }
}
