//! The webhook reports events to the application's own server. Its requests are signed as Standard
//! Webhooks demand (<https://www.standardwebhooks.com>).
//!
//! Rooms put events into a queue and never wait for it. One task takes events out, some at a time,
//! and repeats each request until it is answered with 2xx. With stored rooms the queue is the
//! store's outbox: the commit that stores a transaction or a snapshot also stores its event.
//! Otherwise the queue is in memory and ends with the server.

mod batch;
mod config;
mod deliver;
mod event;
mod pause;
mod queue;
mod report;
mod room_events;
mod secrets;

pub use config::{WebhookConfig, WebhookPauses};
pub(crate) use deliver::deliver;
pub(crate) use event::Event;
pub use event::{EventKind, EventKinds, UnknownEvent};
pub(crate) use queue::{Queue, outbox_limits};
pub(crate) use report::WebhookFigures;
pub(crate) use room_events::{OfWrite, RoomEvents};
pub use secrets::{SecretsError, WebhookSecrets};
