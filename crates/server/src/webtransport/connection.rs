//! One WebTransport session: packets on one bidirectional stream, and datagrams
//! (docs/transports.md, T5, T6).

use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::{Fate, write_all};
use groupwire_session::{Error, PathNeeds};
use tokio::time::{Instant, timeout};
use wtransport::endpoint::IncomingSessionFuture;
use wtransport::quinn::{ConnectionError, Incoming as Handshake};
use wtransport::{Connection, RecvStream, SendStream, VarInt};

use crate::ends::framing::{Framed, framed};
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{self, DatagramSink, Gone, Incoming, Receive, Transmit};
use crate::transport::context::TransportContext;
use crate::transport::emulation;

/// The code of HTTP/3 for a connection that is closed without an error (RFC 9114, section 8.1).
const H3_NO_ERROR: wtransport::quinn::VarInt = wtransport::quinn::VarInt::from_u32(0x100);

/// How long after a reset of its stream a connection's end is waited for, which shows whether the
/// page is gone.
const CLOSING: Duration = Duration::from_secs(1);

/// The path of WebTransport sessions (T5).
const PATH: &str = "/wt";

/// A session whose stream is open.
pub(super) struct Opened {
    connection: Connection,
    reader: RecvStream,
    writer: SendStream,
    emulate: bool,
}

/// Completes the handshakes of QUIC, HTTP/3 and WebTransport; `None` if one of them failed, which
/// is logged.
pub(super) async fn open(context: &TransportContext, handshake: Handshake) -> Option<Opened> {
    let peer = handshake.remote_address();
    let request = IncomingSessionFuture::with_quic_incoming(handshake).await;
    let request = request
        .inspect_err(|error| tracing::debug!(%peer, %error, "WebTransport handshake failed"))
        .ok()?;
    if let Err(refusal) = context.addresses.handshake(peer.ip()) {
        tracing::debug!(%peer, "connection refused: {}", refusal.why());
        return None;
    }
    let (path, query) = match request.path().split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path(), None),
    };
    let emulate = emulation::is_wanted(context, query);
    if path != PATH {
        tracing::debug!(%peer, path = request.path(), "WebTransport refused: unknown path");
        request.not_found().await;
        return None;
    }
    let origin = request.origin();
    // T2: only the host is compared, as WebTransport's port may differ from HTTP's.
    if origin.is_some_and(|origin| !context.origins.admit_host(origin, request.authority())) {
        tracing::info!(%peer, origin, "WebTransport refused: its page has another origin; --origin admits it");
        request.forbidden().await;
        return None;
    }
    let opening = async {
        let connection = request.accept().await?;
        let (writer, reader) = connection.accept_bi().await?;
        Ok(Opened { connection, reader, writer, emulate })
    };
    opening
        .await
        .inspect_err(|error: &wtransport::error::ConnectionError| {
            tracing::debug!(%peer, %error, "WebTransport session opened no stream");
        })
        .ok()
}

/// Serves a session until it ends.
pub(super) async fn serve(context: Arc<TransportContext>, opened: Opened) {
    let Opened { connection, reader, writer, emulate } = opened;
    tracing::debug!(peer = %connection.remote_address(), transport = "WebTransport", "connected");
    let packets = Framed::new(reader, context.max_packet());
    let datagrams = groupwire_quic::Datagrams::new(&connection);
    let largest = datagrams.max();
    let datagrams = (largest > 0).then_some((Datagrams(datagrams), largest));
    let receive = Reader { connection: connection.clone(), packets, is_left: false };
    let transmit = Writer { connection: connection.clone(), stream: writer };
    emulation::serve(context, "WebTransport", emulate, receive, transmit, datagrams).await;
    // Closes the connection even if a clone of it is still held.
    connection.close(VarInt::from_u32(0), b"");
}

struct Reader {
    connection: Connection,
    packets: Framed<RecvStream>,
    /// True once the goodbye of a page that is gone was passed on.
    is_left: bool,
}

impl Reader {
    /// True once if the page is gone and could not say goodbye: Firefox then closes the connection
    /// in order, and leaves the stream unfinished, or resets it a moment before. The client
    /// finishes it before it closes the connection itself.
    async fn is_page_gone(&mut self) -> bool {
        if !self.packets.is_finished() {
            let _ = timeout(CLOSING, self.connection.quic_connection().closed()).await;
        }
        let closed = self.connection.quic_connection().close_reason();
        let in_order = matches!(
            closed,
            Some(ConnectionError::ApplicationClosed(close)) if close.error_code == H3_NO_ERROR
        );
        let is_gone = in_order && !self.packets.is_finished() && !self.is_left;
        self.is_left |= is_gone;
        is_gone
    }
}

impl Receive for Reader {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        tokio::select! {
            // Packets first: a datagram may need the packet that was sent before it.
            biased;
            packet = self.packets.next() => match packet? {
                Some(packet) => Ok(Some(Incoming::Packet(packet))),
                None => Ok(self.is_page_gone().await.then(Incoming::goodbye)),
            },
            datagram = self.connection.receive_datagram() => {
                Ok(datagram.ok().map(|datagram| Incoming::Datagram(datagram.payload())))
            }
            Ok(_) = self.connection.accept_bi() => Err(SECOND_STREAM),
            Ok(_) = self.connection.accept_uni() => Err(SECOND_STREAM),
        }
    }
}

/// The error for a second stream (T5), which nothing would read.
const SECOND_STREAM: Error = Error::Malformed { what: "session: it opened a second stream" };

struct Writer {
    connection: Connection,
    stream: SendStream,
}

impl Transmit for Writer {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        let bytes = framed(&packet);
        write_all(&self.connection, &mut self.stream, &bytes).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if !packet.is_empty() && self.send(packet).await.is_err() {
            return;
        }
        // `finish` waits until the client has acknowledged everything.
        let _ = self.stream.finish().await;
        let code = reason.map_or(0, Error::code);
        let why = reason.map(Error::to_string).unwrap_or_default();
        self.connection.close(VarInt::from_u32(code), why.as_bytes());
    }
}

struct Datagrams(groupwire_quic::Datagrams);

impl ends::Datagrams for Datagrams {
    async fn send(&mut self, packet: Vec<u8>, needs: PathNeeds) -> Fate {
        self.0.set_needs(needs.minimum_rate, needs.is_limited);
        // The reliable stream notices that the connection is closed.
        self.0.send(&packet, Instant::now()).await.unwrap_or(Fate::Dropped)
    }

    fn sink(&self) -> DatagramSink {
        let sink = self.0.sink();
        Box::new(move |parts| sink.send(parts))
    }
}
