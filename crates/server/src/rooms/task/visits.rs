//! Requests of visitors, which are participants without a transport: to come, to publish, and to be
//! woken when there is something new to read.

use std::time::Duration;

use groupwire_session::room::{NotAccepted, Published, Tidings, Visit, VisitorMessage};
use groupwire_session::{Error, ParticipantId, Position};
use tokio::sync::{oneshot, watch};

use super::Driver;
use super::publications::Permits;

/// What the task of a room keeps for all visitors together.
pub(super) struct Visits {
    permits: Permits,
    tidings: watch::Sender<Tidings>,
}

/// Why a visitor's message was not published.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// The visitors of the room together publish too often.
    TooOften,
    Room(NotAccepted),
}

impl Visits {
    pub(super) fn new(permits: Permits) -> Self {
        Visits { permits, tidings: watch::Sender::default() }
    }
}

impl Driver {
    /// Makes a program a participant, or keeps it one.
    pub(crate) fn visit(
        &mut self,
        now: Duration,
        visit: &Visit<'_>,
    ) -> Result<ParticipantId, Error> {
        let id = self.room.visit(now, visit)?;
        self.has_visitors = true;
        // The webhook's event `joined` comes before those of the participant's transactions.
        if self.webhook.is_some() {
            self.run_outputs(now);
        }
        Ok(id)
    }

    /// Publishes a message of a visitor. Answers on `durable` when it has taken effect.
    pub(crate) fn publish_for(
        &mut self,
        now: Duration,
        visitor: ParticipantId,
        message: &VisitorMessage<'_>,
        durable: oneshot::Sender<()>,
    ) -> Result<Published, NotTaken> {
        if !self.visits.permits.permit() || !self.publications.has_place() {
            return Err(NotTaken::TooOften);
        }
        let published = self.room.publish_for(now, visitor, message).map_err(NotTaken::Room)?;
        let position = match published {
            Published::Transaction { position, .. } => position,
            Published::Awareness => Position(0),
        };
        self.publications.wait_for(position, durable);
        Ok(published)
    }

    /// Tells of changes from now on. The sender is gone once the room has ended.
    pub(crate) fn follow(&self) -> watch::Receiver<Tidings> {
        self.visits.tidings.send_replace(self.room.tidings());
        self.visits.tidings.subscribe()
    }

    /// Wakes those who follow the room if there is something new.
    pub(super) fn tell_followers(&self) {
        if self.visits.tidings.receiver_count() > 0 {
            let news = self.room.tidings();
            self.visits.tidings.send_if_modified(|told| std::mem::replace(told, news) != news);
        }
    }
}
