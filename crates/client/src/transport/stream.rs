//! Length-prefixed packets over any bidirectional byte stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::Bytes;

use super::event::TransportEvent;
use super::framing::{framed, take};

/// Bytes read at a time; the buffer grows for a larger packet.
const READ: usize = 16 << 10;

/// Reads and writes packets.
pub(super) struct Packets<R, W> {
    reader: R,
    pub(super) writer: W,
    /// Bytes received that are not yet a whole packet.
    incoming: BytesMut,
    /// Packets that the writer has not taken.
    waiting: VecDeque<Bytes>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Packets<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Packets { reader, writer, incoming: BytesMut::new(), waiting: VecDeque::new() }
    }

    pub(super) fn send(&mut self, packet: &[u8]) {
        debug_assert!(self.waiting.len() < 2, "the session has at most two packets under way");
        self.waiting.push_back(framed(packet));
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Writes queued packets.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<TransportEvent> {
        while let Some(first) = self.waiting.front_mut() {
            match ready!(Pin::new(&mut self.writer).poll_write(cx, first)) {
                Ok(0) | Err(_) => return Poll::Ready(TransportEvent::Closed),
                Ok(written) => {
                    debug_assert!(
                        written <= first.len(),
                        "a writer takes no more than it is given"
                    );
                    drop(first.split_to(written.min(first.len())));
                }
            }
            if first.is_empty() {
                self.waiting.pop_front();
                return Poll::Ready(TransportEvent::Sent(1));
            }
        }
        Poll::Pending
    }

    /// Reads the next packet.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<TransportEvent> {
        loop {
            match take(&mut self.incoming) {
                Ok(Some(packet)) => return Poll::Ready(TransportEvent::Packet(packet)),
                Ok(None) => {}
                Err(_) => return Poll::Ready(TransportEvent::Closed),
            }
            if !ready!(self.poll_fill(cx)) {
                return Poll::Ready(TransportEvent::Closed);
            }
        }
    }

    /// Reads more bytes. Returns false at the end of the stream.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut space = [0; READ];
        let mut buffer = ReadBuf::new(&mut space);
        let read = ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer));
        self.incoming.extend_from_slice(buffer.filled());
        Poll::Ready(read.is_ok() && !buffer.filled().is_empty())
    }
}
