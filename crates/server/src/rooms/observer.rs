//! The application's observer of rooms.

use groupwire_session::room::Ordered;

/// Follows the transactions of all rooms without being a participant: to write them to a file, or
/// to forward them to another process.
///
/// ```
/// use std::sync::mpsc::Sender;
///
/// use groupwire_server::Observer;
/// use groupwire_server::session::room::Ordered;
///
/// /// Hands what is said on the channel `chat` to another thread.
/// struct Chat(Sender<Vec<u8>>);
///
/// impl Observer for Chat {
///     fn ordered(&self, _room: &str, transaction: &Ordered<'_>) {
///         if transaction.channel == "chat" {
///             let _ = self.0.send(transaction.bytes.to_vec());
///         }
///     }
/// }
/// ```
pub trait Observer {
    /// A room has given a transaction its place in the room's order. No participant has been told
    /// yet. The room waits until this function returns: hand what takes long to another thread.
    fn ordered(&self, room: &str, transaction: &Ordered<'_>);
}
