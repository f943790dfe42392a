//! A WebTransport client, as slow as it may be, because only the server is measured: as much of
//! HTTP/3 as a session needs, on QUIC (T5).

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use groupwire_quic::wtransport::proto::bytes::{BufferReader, BufferWriter, EndOfBuffer};
use groupwire_quic::wtransport::proto::frame::{Frame, FrameKind};
use groupwire_quic::wtransport::proto::headers::Headers;
use groupwire_quic::wtransport::proto::ids::{QStreamId, SessionId, StreamId};
use groupwire_quic::wtransport::proto::session::SessionRequest;
use groupwire_quic::wtransport::proto::settings::Settings;
use groupwire_quic::wtransport::proto::stream_header::StreamHeader;
use groupwire_quic::wtransport::proto::varint::VarInt;
use groupwire_quic::wtransport::quinn::{
    self, ClientConfig, Endpoint, EndpointConfig, RecvStream, SendStream, TokioRuntime,
};
use groupwire_quic::{Datagrams, Direct, End, settings, wtransport};
use groupwire_session::limits::DEFAULT_MAX_PACKET;

/// The idle timeout of this end. The server states a shorter one.
const IDLE: Duration = Duration::from_secs(30);

/// The size of the kernel's buffer for all clients of a socket, if the kernel permits it: a tick's
/// datagrams for a thousand clients come at once, and each takes some 800 bytes there.
const BUFFER: usize = 4 << 20;

/// The most bytes of the answer to the request for a session.
const MAX_ANSWER: usize = 16 << 10;

/// The configuration of clients, which recognise the server by the certificates that it may have.
pub(super) fn config(certificates: &[[u8; 32]]) -> ClientConfig {
    let hashes = certificates.iter().map(|hash| (*hash).into());
    let config = wtransport::ClientConfig::builder().with_bind_default();
    let mut config = config.with_server_certificate_hashes(hashes).build().quic_config().clone();
    config.transport_config(Arc::new(settings(End::Client, DEFAULT_MAX_PACKET, IDLE)));
    config
}

/// A socket for any number of clients.
pub(super) fn endpoint() -> io::Result<Endpoint> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    let options = socket2::SockRef::from(&socket);
    // If the kernel grants less, datagrams that come all at once are lost, which the figures show.
    let _ = options.set_recv_buffer_size(BUFFER);
    let _ = options.set_send_buffer_size(BUFFER);
    Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))
}

/// A session, and the stream that packets travel on.
pub(super) struct Session {
    pub(super) connection: quinn::Connection,
    pub(super) writer: SendStream,
    pub(super) reader: RecvStream,
    /// The largest datagram in bytes.
    pub(super) max_datagram: usize,
    direct: Direct,
    /// The first bytes of each datagram of the session.
    header: Vec<u8>,
    /// HTTP/3's own streams, which last as long as the session.
    _http: (SendStream, SendStream, RecvStream),
}

impl Session {
    pub(super) async fn open(
        endpoint: &Endpoint,
        config: ClientConfig,
        port: u16,
    ) -> io::Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let connecting = endpoint.connect_with(config, address, "127.0.0.1");
        let connection = connecting.map_err(io::Error::other)?.await?;
        let mut control = connection.open_uni().await?;
        control.write_all(&greeting()?).await?;
        let (mut asking, mut answering) = connection.open_bi().await?;
        asking.write_all(&request(port)?).await?;
        accepted(&mut answering).await?;

        let id = StreamId::new(VarInt::try_from(u64::from(asking.id())).map_err(io::Error::other)?);
        let id = SessionId::try_from_session_stream(id);
        let id = id.map_err(|_| io::Error::other("a session on another's stream"))?;
        let (mut writer, reader) = connection.open_bi().await?;
        let front = Frame::new_webtransport(id);
        writer.write_all(&written(front.write_size(), |out| front.write_to_buffer(out))?).await?;
        let datagrams = Datagrams::over(connection.clone(), QStreamId::from_session_id(id));
        Ok(Session {
            writer,
            reader,
            max_datagram: datagrams.max(),
            direct: datagrams.direct(),
            header: datagrams.direct().header().to_vec(),
            connection,
            _http: (control, asking, answering),
        })
    }

    pub(super) fn send_datagram(&self, packet: &[u8]) {
        self.direct.send([packet, &[]]);
    }

    /// The payload of a datagram of the session.
    pub(super) fn payload<'a>(&self, datagram: &'a [u8]) -> Option<&'a [u8]> {
        datagram.strip_prefix(&self.header[..])
    }
}

/// The first bytes of the control stream (RFC 9114, section 6.2.1): this end supports datagrams and
/// WebTransport.
fn greeting() -> io::Result<Vec<u8>> {
    let header = StreamHeader::new_control();
    let settings = Settings::builder().enable_webtransport().enable_h3_datagrams();
    let settings = settings.webtransport_max_sessions(VarInt::from_u32(1)).build();
    let frame = settings.generate_frame();
    written(header.write_size() + frame.write_size(), |out| {
        header.write_to_buffer(out)?;
        frame.write_to_buffer(out)
    })
}

fn request(port: u16) -> io::Result<Vec<u8>> {
    let request = SessionRequest::new(format!("https://127.0.0.1:{port}/wt"));
    let frame = request.map_err(io::Error::other)?.headers().generate_frame();
    written(frame.write_size(), |out| frame.write_to_buffer(out))
}

/// Reads the answer to the request, and skips frames of unknown types before it.
async fn accepted(answering: &mut RecvStream) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let mut reader = BufferReader::new(&bytes);
        while let Some(frame) = Frame::read_from_buffer(&mut reader).map_err(io::Error::other)? {
            if !matches!(frame.kind(), FrameKind::Headers) {
                continue;
            }
            let headers = Headers::with_frame(&frame);
            let status = headers.ok().and_then(|headers| headers.get(":status").map(str::to_owned));
            return match status.as_deref() {
                Some("200") => Ok(()),
                status => Err(io::Error::other(format!("no session: {status:?}"))),
            };
        }
        let more = answering.read_chunk(MAX_ANSWER, true).await?;
        let Some(more) = more.filter(|_| bytes.len() < MAX_ANSWER) else {
            return Err(io::Error::other("no session: it hung up"));
        };
        bytes.extend_from_slice(&more.bytes);
    }
}

fn written(
    size: usize,
    write: impl FnOnce(&mut BufferWriter<'_>) -> Result<(), EndOfBuffer>,
) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    let done = write(&mut BufferWriter::new(&mut bytes));
    done.map_err(|_| io::Error::other("a frame that is larger than it says"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t5_what_is_said_first_is_http3() {
        // A control stream, SETTINGS; the settings' order is the library's.
        assert_eq!(greeting().unwrap()[..2], [0x00, 0x04]);
        let request = request(4433).unwrap();
        let frame = Frame::read_from_buffer(&mut BufferReader::new(&request)).unwrap().unwrap();
        let headers = Headers::with_frame(&frame).unwrap();
        assert_eq!(headers.get(":path"), Some("/wt"));
        assert_eq!(headers.get(":protocol"), Some("webtransport"));
    }
}
