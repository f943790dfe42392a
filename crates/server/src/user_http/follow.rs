//! Waiting until there may be something new to read in a room.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::Error;
use groupwire_session::room::Tidings;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ask::{User, over};
use super::context::UserContext;
use super::refusal::Refusal;
use crate::access::Access;

/// Why waiting has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Woken {
    News,
    Late,
    /// The room has ended.
    Ended,
}

/// Waits until this time for news of a room that was looked at just now. The room is not looked at
/// again before `pace` is over: what changes more often is conflated.
pub(super) async fn news(
    mut changes: watch::Receiver<Tidings>,
    pace: Duration,
    until: Instant,
) -> Woken {
    let next = Instant::now() + pace;
    match timeout_at(until, changes.changed()).await {
        Ok(Ok(())) => {
            sleep_until(next.min(until)).await;
            Woken::News
        }
        Ok(Err(_)) => Woken::Ended,
        Err(_) => Woken::Late,
    }
}

/// A request that waits for news, for as long as its user wants and may.
pub(super) struct Waiting {
    context: Arc<UserContext>,
    until: Instant,
    /// Completes when the user may not go on.
    over: Pin<Box<dyn Future<Output = Error> + Send>>,
}

impl Waiting {
    pub(super) fn new(
        context: Arc<UserContext>,
        user: &User,
        access: Access,
        wait: Duration,
    ) -> Self {
        let over = Box::pin(over(Arc::clone(&context), user.room.clone(), access));
        Waiting { context, until: Instant::now() + wait, over }
    }

    /// True if the user wants to wait no longer.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Waits after a look at the room. Returns true if the room has to be looked at again, and
    /// false if the request is answered with what was found.
    ///
    /// # Errors
    /// The user may not go on, or the room has ended.
    pub(super) async fn wait(
        &mut self,
        changes: watch::Receiver<Tidings>,
    ) -> Result<bool, Refusal> {
        let rooms = self.context.transports.rooms.context();
        tokio::select! {
            // A room that ends with its server has not moved: the client goes on with its next
            // request.
            biased;
            _ = rooms.drain.due() => Ok(false),
            woken = news(changes, rooms.config.timing.tick, self.until) => match woken {
                Woken::News => Ok(true),
                Woken::Late => Ok(false),
                Woken::Ended => Err(Refusal::moving()),
            },
            error = &mut self.over => Err(error.into()),
        }
    }
}
