//! A stream that holds little.

use wtransport::error::StreamWriteError;
use wtransport::{Connection, SendStream};

/// Bytes that QUIC may hold which are not on the wire yet; the same as for TCP. More would be stale by the time they
/// leave.
const UNSENT: u64 = 16 << 10;

/// Lets QUIC hold what the path has room for and a little more: call it before each write. Without it a stream takes
/// 8 MB before it says that the path is slow, which is minutes of a thin one.
pub fn make_room(connection: &Connection) {
    let quic = connection.quic_connection();
    quic.set_send_window(quic.stats().path.cwnd.saturating_add(UNSENT));
}

/// Writes all `bytes`; returns when all but what [`make_room`] allows have left. If the future is lost, part of them is
/// written.
///
/// # Errors
/// The connection is gone, or the other end reads no more.
pub async fn write_all(
    connection: &Connection,
    stream: &mut SendStream,
    mut bytes: &[u8],
) -> Result<(), StreamWriteError> {
    while !bytes.is_empty() {
        make_room(connection);
        let written = stream.write(bytes).await?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}
