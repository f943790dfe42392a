//! Rooms of other servers, for a server that shares its rooms with others.

use tokio::sync::mpsc::UnboundedSender;

use super::task::Message;

/// Knows which server has the room of a name.
pub(crate) trait Elsewhere: Send + Sync {
    /// The place of the room of this name.
    fn place(&self, room: &str) -> Place;
}

/// The place of a room.
pub(crate) enum Place {
    /// This server has it.
    Here,
    /// Another server has it. Messages of connections, from [`Message::Join`] on, are passed on to
    /// that server.
    There(UnboundedSender<Message>),
    /// Another server has it, to which this leads, and this server opens a mirror of it.
    Mirrored(UnboundedSender<Message>),
    /// No server has it at this moment: its server has ended, and another one takes its place.
    Nowhere,
}
