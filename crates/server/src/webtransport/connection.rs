//! One WebTransport session: packets on one stream, and datagrams (T5, T6).

use std::sync::Arc;

use groupwire_quic::write_all;
use groupwire_session::Error;
use tokio::time::Instant;
use wtransport::endpoint::IncomingSessionFuture;
use wtransport::quinn::Incoming as Handshake;
use wtransport::{Connection, RecvStream, SendStream, VarInt};

use crate::hub::Hub;
use crate::transport::framing::{Framed, framed};
use crate::transport::{self, Direct, Gone, Incoming, Receive, Transmit, emulation};

/// T5: where sessions are.
const PATH: &str = "/wt";

/// A session whose stream is open.
pub(super) struct Opened {
    connection: Connection,
    reader: RecvStream,
    writer: SendStream,
    emulate: bool,
}

/// Carries out the handshakes of QUIC, HTTP/3 and WebTransport. `None`: it came to nothing, which is logged.
pub(super) async fn open(hub: &Hub, handshake: Handshake) -> Option<Opened> {
    let peer = handshake.remote_address();
    let request = IncomingSessionFuture::with_quic_incoming(handshake).await;
    let request = request.inspect_err(|error| tracing::debug!(%peer, %error, "handshake")).ok()?;
    let (path, query) = match request.path().split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (request.path(), None),
    };
    let emulate = emulation::is_wanted(hub, query);
    if path != PATH {
        tracing::debug!(%peer, path = request.path(), "no such path");
        request.not_found().await;
        return None;
    }
    let origin = request.origin();
    let origins = &hub.config.origins;
    // T2: its port may be another than HTTP's.
    if origin.is_some_and(|origin| !origins.admit_host(origin, request.authority())) {
        tracing::info!(%peer, origin, "refused: a foreign origin");
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
            tracing::debug!(%peer, %error, "no stream");
        })
        .ok()
}

/// Serves a session until it ends.
pub(super) async fn serve(hub: Arc<Hub>, opened: Opened) {
    let Opened { connection, reader, writer, emulate } = opened;
    tracing::debug!(peer = %connection.remote_address(), "connected by WebTransport");
    let packets = Framed::new(reader, hub.config.limits.max_packet);
    let datagrams = groupwire_quic::Datagrams::new(&connection);
    let largest = datagrams.max();
    let datagrams = (largest > 0).then_some((Datagrams(datagrams), largest));
    let receive = Reader { connection: connection.clone(), packets };
    let transmit = Writer { connection: connection.clone(), stream: writer };
    emulation::serve(hub, "WebTransport", emulate, receive, transmit, datagrams).await;
    // Nothing that is left of it keeps the connection open.
    connection.close(VarInt::from_u32(0), b"");
}

struct Reader {
    connection: Connection,
    packets: Framed<RecvStream>,
}

impl Receive for Reader {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        tokio::select! {
            // A datagram that was sent after a packet is no use before it.
            biased;
            packet = self.packets.next() => Ok(packet?.map(Incoming::Packet)),
            datagram = self.connection.receive_datagram() => {
                Ok(datagram.ok().map(|datagram| Incoming::Datagram(datagram.payload())))
            }
            Ok(_) = self.connection.accept_bi() => Err(SECOND_STREAM),
            Ok(_) = self.connection.accept_uni() => Err(SECOND_STREAM),
        }
    }
}

/// T5: a session has one stream. What came on others would wait for ever.
const SECOND_STREAM: Error = Error::Malformed { what: "session: it opened a second stream" };

struct Writer {
    connection: Connection,
    stream: SendStream,
}

impl Transmit for Writer {
    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        let bytes = framed(&packet);
        write_all(&self.connection, &mut self.stream, &bytes).await.map_err(|_| Gone)
    }

    async fn close(&mut self, packet: Vec<u8>, reason: Option<&Error>) {
        if !packet.is_empty() && self.send(packet).await.is_err() {
            return;
        }
        // Done when the client has it all.
        let _ = self.stream.finish().await;
        let code = reason.map_or(0, Error::code);
        let why = reason.map(Error::to_string).unwrap_or_default();
        self.connection.close(VarInt::from_u32(code), why.as_bytes());
    }
}

struct Datagrams(groupwire_quic::Datagrams);

impl transport::Datagrams for Datagrams {
    async fn send(&mut self, packet: Vec<u8>) {
        // That the connection is gone, its stream says.
        let _ = self.0.send(&packet, Instant::now()).await;
    }

    fn direct(&self) -> Direct {
        let direct = self.0.direct();
        Box::new(move |parts| direct.send(parts))
    }
}
