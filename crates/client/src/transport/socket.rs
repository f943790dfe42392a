//! Length-prefixed packets over plain TCP (docs/transports.md, T8).

use std::future::poll_fn;
use std::task::{Context, Poll};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::event::TransportEvent;
use super::moves::Watch;
use super::stream::Packets;
use crate::address::Address;
use crate::error::DialError;

pub(crate) struct Socket {
    packets: Packets<OwnedReadHalf, OwnedWriteHalf>,
    watch: Watch,
}

impl Socket {
    pub(super) async fn dial(address: &Address) -> Result<Self, DialError> {
        let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
        // Packets are complete when they are sent: Nagle's algorithm would only delay them.
        stream.set_nodelay(true)?;
        let watch = Watch::over(&stream)?;
        let (reader, writer) = stream.into_split();
        Ok(Socket { packets: Packets::new(reader, writer), watch })
    }

    pub(super) fn send(&mut self, packet: &[u8]) {
        self.packets.send(packet);
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>, read: bool) -> Poll<TransportEvent> {
        if self.watch.poll_lost(cx).is_ready() {
            return Poll::Ready(TransportEvent::Closed);
        }
        if let Poll::Ready(event) = self.packets.poll_write(cx) {
            return Poll::Ready(event);
        }
        if read { self.packets.poll_read(cx) } else { Poll::Pending }
    }

    pub(super) async fn close(mut self) {
        while !self.packets.is_idle() {
            if let TransportEvent::Closed = poll_fn(|cx| self.poll_next(cx, false)).await {
                return;
            }
        }
        if self.packets.writer.shutdown().await.is_ok() {
            while !matches!(poll_fn(|cx| self.poll_next(cx, true)).await, TransportEvent::Closed) {}
        }
    }
}
