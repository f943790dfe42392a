//! Closes a socket so that its client gets the last bytes, although it may still be sending.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How long a client that broke a rule may take to read why and to close its end. Many clients read
/// only when they have sent all of a message: this suffices for 6 MB at 10 Mbit/s.
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// Ends the stream to the client, and then reads and drops what comes until the client ends its
/// own, for which callers set a limit. Closing a socket that has unread bytes resets the
/// connection: the client would lose the last bytes that it was sent, which say why.
pub(crate) async fn close_in_order(socket: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    if socket.shutdown().await.is_err() {
        return;
    }
    let mut dropped = [0; 1024];
    while matches!(socket.read(&mut dropped).await, Ok(1..)) {}
}
