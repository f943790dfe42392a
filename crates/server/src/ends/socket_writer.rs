//! A TCP socket to which the room's task writes packets itself: with one system call, and without
//! waking the connection's task unless the kernel's buffer is full.

use std::hint::black_box;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::framing::MAX_VARINT;
use super::link::Link;

/// What precedes each packet on the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The header of a binary WebSocket message in one frame, from a server (RFC 6455, section
    /// 5.2).
    WebSocket,
    /// The packet's length (docs/transports.md, T1).
    Length,
}

/// Most bytes of what precedes a packet: a length takes up to 10 bytes, as does a WebSocket header.
const MAX_HEADER: usize = MAX_VARINT;

/// Most unsent bytes: three packets, and answers to WebSocket pings. A client that reads nothing
/// and keeps sending pings is disconnected.
const MAX_UNSENT: usize = 256 << 10;

/// First byte of a final binary frame and of a final close frame (RFC 6455, section 5.2).
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;

/// Writes packets to the socket of one connection.
pub(crate) struct SocketWriter {
    link: Link,
    framing: Framing,
    state: Mutex<State>,
    /// Notified when there are unsent bytes or the socket broke.
    wake: Notify,
}

#[derive(Default)]
struct State {
    unsent: Vec<u8>,
    /// Packets that end within `unsent`.
    packets: usize,
    broken: bool,
}

impl SocketWriter {
    pub(crate) fn new(link: Link, framing: Framing) -> Arc<Self> {
        let (state, wake) = (Mutex::default(), Notify::new());
        Arc::new(SocketWriter { link, framing, state, wake })
    }

    /// Sends a packet, given as header and payload. Returns false if some of it is still unsent;
    /// then [`SocketWriter::flush`] reports it later.
    pub(crate) fn send(&self, header: &[u8], payload: &[u8]) -> bool {
        let mut prefix = [0; MAX_HEADER];
        let prefix = self.framing.header(header.len() + payload.len(), &mut prefix);
        self.send_parts([prefix, header, payload])
    }

    /// Loads the memory that sending needs into the processor's cache.
    pub(crate) fn load(&self) {
        black_box((self.state.is_poisoned(), self.framing));
        self.link.load();
    }

    /// As [`SocketWriter::send`], for a packet that several connections are sent.
    pub(crate) fn send_framed(&self, packet: &FramedPacket) -> bool {
        let bytes = match self.framing {
            Framing::WebSocket => &packet.websocket,
            Framing::Length => &packet.length,
        };
        self.send_parts([bytes, &[], &[]])
    }

    fn send_parts(&self, parts: [&[u8]; 3]) -> bool {
        let mut state = self.lock();
        let is_sent = self.write(&mut state, parts);
        if !is_sent {
            state.packets += 1;
            drop(state);
            self.wake.notify_one();
        }
        is_sent
    }

    /// Sends a WebSocket close frame; other framings have none.
    pub(crate) fn send_close(&self, code: u16, reason: &str) {
        if self.framing == Framing::WebSocket {
            let length = [CLOSE, 2 + reason.len() as u8];
            self.write(&mut self.lock(), [&length, &code.to_be_bytes(), reason.as_bytes()]);
        }
    }

    /// Waits until there are unsent bytes.
    pub(crate) async fn wait_for_unsent(&self) {
        self.wake.notified().await;
    }

    /// Waits until nothing is unsent. Returns the number of packets that were sent meanwhile.
    pub(crate) async fn flush(&self) -> io::Result<usize> {
        loop {
            {
                let mut state = self.lock();
                self.write_unsent(&mut state);
                if state.broken {
                    return Err(ErrorKind::BrokenPipe.into());
                }
                if state.unsent.is_empty() && self.link.is_flushed() {
                    return Ok(std::mem::take(&mut state.packets));
                }
            }
            self.link.socket().writable().await?;
        }
    }

    /// Shuts the sending direction down, so that the client sees the end of the stream.
    pub(crate) fn finish(&self) {
        self.link.finish();
    }

    /// Writes the parts, or keeps what the kernel does not take. Returns true if nothing is unsent.
    fn write(&self, state: &mut State, parts: [&[u8]; 3]) -> bool {
        let mut sent = 0;
        if state.unsent.is_empty() && !state.broken {
            match self.link.try_write(parts) {
                Ok(bytes) => sent = bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => state.broken = true,
            }
        }
        for part in parts {
            let skipped = sent.min(part.len());
            sent -= skipped;
            state.unsent.extend_from_slice(&part[skipped..]);
        }
        if state.unsent.len() > MAX_UNSENT {
            state.broken = true;
        }
        if state.broken {
            state.unsent = Vec::new();
        }
        state.unsent.is_empty() && !state.broken && self.link.is_flushed()
    }

    /// Writes as many unsent bytes as the kernel takes.
    fn write_unsent(&self, state: &mut State) {
        let mut sent = 0;
        while sent < state.unsent.len() && !state.broken {
            match self.link.try_write([&state.unsent[sent..], &[], &[]]) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => state.broken = true,
            }
        }
        match sent == state.unsent.len() {
            // Drop the buffer, so that an idle connection holds no memory for it.
            true => state.unsent = Vec::new(),
            false => drop(state.unsent.drain(..sent)),
        }
        match self.link.try_flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => state.broken = true,
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A packet with what precedes it on the socket, made once for all connections that are sent the
/// packet.
pub(crate) struct FramedPacket {
    websocket: Vec<u8>,
    length: Vec<u8>,
}

impl FramedPacket {
    pub(crate) fn new(packet: &[u8]) -> Self {
        let framed = |framing: Framing| {
            [framing.header(packet.len(), &mut [0; MAX_HEADER]), packet].concat()
        };
        FramedPacket { websocket: framed(Framing::WebSocket), length: framed(Framing::Length) }
    }
}

impl Framing {
    /// Writes the header of a packet of `length` bytes.
    fn header(self, length: usize, header: &mut [u8; MAX_HEADER]) -> &[u8] {
        let size = match (self, length) {
            (Framing::Length, _) => {
                let (mut rest, mut size) = (length, 1);
                while rest >= 0x80 {
                    header[size - 1] = rest as u8 | 0x80;
                    (rest, size) = (rest >> 7, size + 1);
                }
                header[size - 1] = rest as u8;
                return &header[..size];
            }
            (Framing::WebSocket, 0..126) => {
                header[1] = length as u8;
                2
            }
            (Framing::WebSocket, 126..=0xffff) => {
                header[1] = 126;
                header[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                4
            }
            (Framing::WebSocket, _) => {
                header[1] = 127;
                header[2..10].copy_from_slice(&(length as u64).to_be_bytes());
                10
            }
        };
        header[0] = BINARY;
        &header[..size]
    }
}

/// The socket as a stream, for a library that reads from it and now and then writes an answer.
pub(crate) struct SocketStream(pub(crate) Arc<SocketWriter>);

impl AsyncRead for SocketStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.link.poll_read(cx, buffer);
        if !self.0.link.is_flushed() {
            // TLS answered something, such as a change of keys, that the kernel did not take.
            self.0.wake.notify_one();
        }
        read
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        let is_sent = self.0.write(&mut state, [bytes, &[], &[]]);
        if state.broken {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        drop(state);
        if !is_sent {
            self.0.wake.notify_one();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.finish();
        Poll::Ready(Ok(()))
    }
}
