//! Datagrams that leave soon or not at all.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use wtransport::Connection;
use wtransport::proto::datagram::Datagram;
use wtransport::proto::ids::QStreamId;
use wtransport::quinn::{self, SendDatagramError};

/// T6: a datagram that cannot be sent for so long is dropped.
pub const MAX_AGE: Duration = Duration::from_millis(100);

/// QUIC carries packets of so many bytes on every path (RFC 9000, section 14).
const SMALLEST_MTU: usize = 1200;

/// The connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

/// Sends a connection's datagrams.
pub struct Datagrams {
    quic: quinn::Connection,
    session: QStreamId,
    /// The path took nothing for [`MAX_AGE`]; what QUIC holds is older than that.
    stalled: bool,
}

impl Datagrams {
    /// Sends over `connection`.
    pub fn new(connection: &Connection) -> Self {
        let session = QStreamId::from_session_id(connection.session_id());
        Datagrams::over(connection.quic_connection().clone(), session)
    }

    /// The same for a session that somebody else has set up.
    pub fn over(quic: quinn::Connection, session: QStreamId) -> Self {
        Datagrams { quic, session, stalled: false }
    }

    /// Bytes that a datagram may have on whatever path the connection takes later, not only on today's; 0 if the other
    /// end takes none.
    pub fn max(&self) -> usize {
        let now = self.quic.max_datagram_size().unwrap_or(0);
        let more_than_sure =
            usize::from(self.quic.stats().path.current_mtu).saturating_sub(SMALLEST_MTU);
        // The other end may have stated any number, so nothing here may be taken for granted.
        now.saturating_sub(more_than_sure).saturating_sub(self.header())
    }

    /// Sends a datagram made at `made`, or drops it: because it is larger than the path or the other end takes, or
    /// because the path takes none for [`MAX_AGE`].
    ///
    /// # Errors
    /// The connection is gone.
    pub async fn send(&mut self, packet: &[u8], made: Instant) -> Result<(), Lost> {
        let datagram = Datagram::new(self.session, packet);
        let mut bytes = vec![0; datagram.write_size()];
        if datagram.write(&mut bytes).is_err() {
            return Ok(());
        }
        let has_room = self.quic.datagram_send_buffer_space() >= bytes.len();
        if self.stalled && !has_room {
            // Takes the place of the oldest that QUIC holds, so that what leaves when the path takes again is new.
            return outcome(self.quic.send_datagram(bytes.into()));
        }
        self.stalled = false;
        match timeout_at(made + MAX_AGE, self.quic.send_datagram_wait(bytes.into())).await {
            Ok(sent) => outcome(sent),
            Err(_) => {
                self.stalled = true;
                Ok(())
            }
        }
    }

    /// A way by which the same bytes go to many connections with little work.
    pub fn direct(&self) -> Direct {
        let mut header = vec![0; self.header()];
        // It cannot fail: there is room for it.
        let _ = Datagram::new(self.session, &[]).write(&mut header);
        Direct { quic: self.quic.clone(), header }
    }

    fn header(&self) -> usize {
        Datagram::new(self.session, &[]).write_size()
    }
}

/// Sends datagrams of a connection without waiting for it.
pub struct Direct {
    quic: quinn::Connection,
    /// What a datagram of the session begins with.
    header: Vec<u8>,
}

impl Direct {
    /// What datagrams of the session begin with.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Sends one, which may take the place of the oldest that QUIC holds: what leaves is new.
    pub fn send(&self, parts: [&[u8]; 2]) {
        let [private, body] = parts;
        let bytes = [&self.header, private, body].concat();
        // That the connection is gone, its stream says. Too large it can only be for the path as it is now.
        let _ = self.quic.send_datagram(bytes.into());
    }
}

fn outcome(sent: Result<(), SendDatagramError>) -> Result<(), Lost> {
    match sent {
        Err(SendDatagramError::ConnectionLost(_)) => Err(Lost),
        // Too large for the path as it is now; or the other end has none, and the session was told so.
        _ => Ok(()),
    }
}
