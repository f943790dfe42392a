//! Sends datagrams soon, or drops them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use wtransport::Connection;
use wtransport::proto::datagram::Datagram;
use wtransport::proto::ids::QStreamId;
use wtransport::quinn::{self, SendDatagramError};

use crate::controller::Needs;
use crate::settings::DATAGRAMS_OUT;

/// A datagram that could not be sent for this long after it was made is dropped
/// (docs/transports.md, T6).
pub const MAX_AGE: Duration = Duration::from_millis(100);

/// The connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionClosed;

/// What happened to a datagram at this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is on its way, or QUIC is about to send it.
    Sent,
    /// It was dropped, or QUIC dropped an older datagram to make space for it.
    Dropped,
}

/// The time between two checks whether a connection has moved to another path, which has its own
/// congestion control.
const MOVES: Duration = Duration::from_secs(1);

/// The path is blocked if the datagrams in QUIC's buffer have not moved for this long: QUIC's own
/// task needs less to send what it may.
const BLOCKED: Duration = Duration::from_millis(5);

/// The time between two checks whether a blocked path takes datagrams again. QUIC tells it only
/// when its buffer is full.
const CHECK: Duration = Duration::from_millis(5);

/// Sends the datagrams of a connection.
pub struct Datagrams {
    quic: quinn::Connection,
    session: QStreamId,
    /// The needs of the present path, and when they were looked up.
    needs: Option<(Instant, Arc<Needs>)>,
    /// The largest space that QUIC's buffer was seen to have: that of an empty buffer.
    space: usize,
    /// The number of datagrams that QUIC had sent when its buffer was last seen to be empty or to
    /// move, and that time.
    moved: (u64, Instant),
    /// True if the path took no datagram for [`MAX_AGE`], so that the datagrams in QUIC's buffer
    /// are older than that.
    stalled: bool,
}

impl Datagrams {
    /// Makes a sender of datagrams for the WebTransport session on `connection`.
    pub fn new(connection: &Connection) -> Self {
        let session = QStreamId::from_session_id(connection.session_id());
        Datagrams::over(connection.quic_connection().clone(), session)
    }

    /// Like [`Datagrams::new`], for a WebTransport session that other code has opened on `quic`.
    pub fn over(quic: quinn::Connection, session: QStreamId) -> Self {
        let (space, moved) = (quic.datagram_send_buffer_space(), (0, Instant::now()));
        Datagrams { quic, session, needs: None, space, moved, stalled: false }
    }

    /// Most bytes of a datagram, which fits every path that the connection may take (T27); 0 if the
    /// other end takes no datagrams.
    pub fn max(&self) -> usize {
        // Saturating, because the other end may state any limit.
        self.quic.max_datagram_size().unwrap_or(0).saturating_sub(self.header())
    }

    /// Tells the congestion control the minimum rate of the channels in bytes per second, and
    /// whether the receiver of datagrams has measured that the path carries no more than it does
    /// now (T24).
    pub fn set_needs(&mut self, minimum_rate: u32, is_limited: bool) {
        let now = Instant::now();
        if self.needs.as_ref().is_none_or(|(at, _)| now >= *at + MOVES) {
            self.needs = Needs::of(&self.quic).map(|needs| (now, needs));
        }
        if let Some((_, needs)) = &self.needs {
            needs.set(minimum_rate, is_limited);
        }
    }

    /// Sends a datagram made at `made`, or drops it: because it is larger than the path or the
    /// other end takes, or because the path takes none for [`MAX_AGE`].
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn send(&mut self, packet: &[u8], made: Instant) -> Result<Fate, ConnectionClosed> {
        let datagram = Datagram::new(self.session, packet);
        let mut bytes = vec![0; datagram.write_size()];
        if datagram.write(&mut bytes).is_err() {
            return Ok(Fate::Dropped);
        }
        let until = made + MAX_AGE;
        while self.would_pile_up(bytes.len()) {
            let now = Instant::now();
            self.stalled |= now >= until;
            if self.stalled {
                return Ok(Fate::Dropped);
            }
            sleep_until((now + CHECK).min(until)).await;
        }
        if self.stalled && self.quic.datagram_send_buffer_space() < bytes.len() {
            // QUIC drops the oldest datagrams in its buffer to make space for this one, so that the
            // datagrams sent after the stall are new.
            return outcome(self.quic.send_datagram(bytes.into())).map(|_| Fate::Dropped);
        }
        self.stalled = false;
        match timeout_at(until, self.quic.send_datagram_wait(bytes.into())).await {
            Ok(sent) => outcome(sent),
            Err(_) => {
                self.stalled = true;
                Ok(Fate::Dropped)
            }
        }
    }

    /// Whether the path is blocked, and a datagram of `bytes` bytes is so small that QUIC would
    /// later send it in one packet with all datagrams that wait. Such a packet takes 300 ms on a
    /// modem's link, or is dropped because the link's queue is shorter.
    fn would_pile_up(&mut self, bytes: usize) -> bool {
        let now = Instant::now();
        let waiting = self.waiting();
        if waiting == 0 {
            self.moved.1 = now;
            return false;
        }
        let sent = self.quic.stats().frame_tx.datagram;
        debug_assert!(sent >= self.moved.0, "QUIC counts all datagrams of the connection");
        if sent != self.moved.0 {
            self.moved = (sent, now);
        }
        now >= self.moved.1 + BLOCKED && waiting + bytes <= DATAGRAMS_OUT / 2
    }

    /// Bytes of the datagrams in QUIC's buffer.
    fn waiting(&mut self) -> usize {
        let space = self.quic.datagram_send_buffer_space();
        self.space = self.space.max(space);
        self.space - space
    }

    /// A sink that sends the same payload to many connections with little work each.
    pub fn sink(&self) -> DatagramSink {
        let mut header = vec![0; self.header()];
        let written = Datagram::new(self.session, &[]).write(&mut header);
        debug_assert!(written.is_ok(), "the buffer has the header's size");
        DatagramSink { quic: self.quic.clone(), header }
    }

    /// The old name of [`Datagrams::sink`].
    #[doc(hidden)]
    pub fn direct(&self) -> DatagramSink {
        self.sink()
    }

    fn header(&self) -> usize {
        Datagram::new(self.session, &[]).write_size()
    }
}

/// Sends datagrams of a connection without waiting.
pub struct DatagramSink {
    quic: quinn::Connection,
    /// The header of every datagram of the session.
    header: Vec<u8>,
}

impl DatagramSink {
    /// The header of every datagram of the session.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Sends a datagram, given in two parts. If QUIC's buffer is full, QUIC drops its oldest
    /// datagram for it.
    pub fn send(&self, parts: [&[u8]; 2]) {
        let [header, payload] = parts;
        let bytes = [&self.header, header, payload].concat();
        // Errors are ignored: the stream notices a closed connection, and the datagram is too large
        // only if the path became narrower.
        let _ = self.quic.send_datagram(bytes.into());
    }
}

fn outcome(sent: Result<(), SendDatagramError>) -> Result<Fate, ConnectionClosed> {
    match sent {
        Ok(()) => Ok(Fate::Sent),
        Err(SendDatagramError::ConnectionLost(_)) => Err(ConnectionClosed),
        // The datagram is too large for the path as it is now; or the other end takes none, as
        // [`Datagrams::max`] reports.
        Err(_) => Ok(Fate::Dropped),
    }
}
