//! The ends of an HTTP transport that its connection's task reads and writes.

use std::sync::Arc;

use axum::body::Bytes;
use bytes::Buf;
use groupwire_session::Error;

use super::state::HttpTransport;
use crate::ends::framing::measure;
use crate::ends::socket_writer::SocketWriter;
use crate::ends::{Gone, Incoming, Receive, Transmit};

/// Reads packets from uploads.
pub(super) struct Reader {
    transport: Arc<HttpTransport>,
    /// The rest of an upload: packets not yet read.
    bytes: Bytes,
    max_packet: usize,
}

impl Reader {
    pub(super) fn new(transport: Arc<HttpTransport>, max_packet: usize) -> Self {
        Reader { transport, bytes: Bytes::new(), max_packet }
    }
}

impl Receive for Reader {
    async fn receive(&mut self) -> Result<Option<Incoming>, Error> {
        loop {
            if let Some((prefix, length)) = measure(&self.bytes, self.max_packet)? {
                self.bytes.advance(prefix);
                return Ok(Some(Incoming::Packet(self.bytes.split_to(length))));
            }
            match self.transport.next_upload().await? {
                Some(upload) => self.bytes = upload,
                None => return Ok(None),
            }
        }
    }
}

/// Queues packets for responses.
pub(super) struct Writer(pub(super) Arc<HttpTransport>);

impl Transmit for Writer {
    fn socket_writer(&self) -> Option<Arc<SocketWriter>> {
        None
    }

    async fn send(&mut self, packet: Vec<u8>) -> Result<(), Gone> {
        self.0.send(packet.into()).await
    }

    async fn close(&mut self, packet: Vec<u8>, _: Option<&Error>) {
        self.0.end(packet.into()).await;
    }
}
