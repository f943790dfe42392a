//! The timer of a session, in tokio's time or in that of a world.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::world::{BoxFuture, World};

/// Completes at the time to which it is set, and again after it has been set anew.
pub(crate) enum Timer {
    Tokio {
        /// Tokio's time at the session's time 0.
        origin: Instant,
        sleep: Pin<Box<Sleep>>,
    },
    World {
        world: Arc<dyn World>,
        /// The world's time at the session's time 0.
        origin: Duration,
        /// The session's time to which the timer is set.
        at: Duration,
        sleep: BoxFuture<()>,
    },
}

impl Timer {
    /// Sets the timer to a time of the session.
    pub(crate) fn set(&mut self, to: Duration) {
        match self {
            Timer::Tokio { origin, sleep } => {
                let deadline = *origin + to;
                if deadline != sleep.deadline() {
                    sleep.as_mut().reset(deadline);
                }
            }
            Timer::World { world, origin, at, sleep } => {
                if to != *at {
                    (*at, *sleep) = (to, world.sleep_until(*origin + to));
                }
            }
        }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self {
            Timer::Tokio { sleep, .. } => sleep.as_mut().poll(cx),
            Timer::World { at, sleep, .. } => {
                let polled = sleep.as_mut().poll(cx);
                if polled.is_ready() {
                    // A future that has completed cannot be polled again.
                    (*at, *sleep) = (Duration::MAX, Box::pin(pending()));
                }
                polled
            }
        }
    }
}
