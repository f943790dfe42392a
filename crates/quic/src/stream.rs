//! Writing to a stream without filling QUIC's buffer.

use wtransport::error::StreamWriteError;
use wtransport::{Connection, SendStream};

/// Bytes that QUIC may buffer beyond the congestion window; as many as the server lets TCP buffer.
/// More would be out of date when they are sent.
const UNSENT: u64 = 16 << 10;

/// Limits the bytes that QUIC buffers to the congestion window and 16 KiB. Must be called before
/// each write. Without the limit a stream accepts 8 MB, which a slow path carries in minutes,
/// before it reports that the path is slow.
pub fn limit_send_buffer(connection: &Connection) {
    let quic = connection.quic_connection();
    quic.set_send_window(quic.stats().path.cwnd.saturating_add(UNSENT));
}

/// Writes all `bytes`; returns when QUIC has them, within the limit of [`limit_send_buffer`]. If
/// the future is dropped, part of them is written.
///
/// # Errors
/// The connection is closed, or the other end stopped reading.
pub async fn write_all(
    connection: &Connection,
    stream: &mut SendStream,
    mut bytes: &[u8],
) -> Result<(), StreamWriteError> {
    while !bytes.is_empty() {
        limit_send_buffer(connection);
        let written = stream.write(bytes).await?;
        debug_assert!(written <= bytes.len(), "QUIC takes no more than it is given");
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}
