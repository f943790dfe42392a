//! A TCP socket that a room's task writes itself: with one call of the kernel, and without waking anybody, unless the
//! kernel takes no more.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::Gone;
use super::framing::MAX_VARINT;

/// What stands before a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The header of a binary WebSocket message in one frame, from a server (RFC 6455, section 5.2).
    WebSocket,
    /// Its length (T1).
    Length,
}

/// Bytes of a header, at most.
const MAX_HEADER: usize = MAX_VARINT;

/// Bytes that may wait here: two packets, and answers to what the other end asks of its WebSocket. Who reads nothing and
/// asks on is cut off.
const MAX_UNSENT: usize = 256 << 10;

/// Packets of up to so many bytes go to the kernel as one piece: there, `writev` costs more than a short copy and `send`.
const SHORT: usize = 512;

/// A final binary frame; a final close frame.
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;

/// The socket of one connection.
pub(crate) struct Line {
    socket: TcpStream,
    framing: Framing,
    state: Mutex<State>,
    /// Something waits, or the socket broke.
    wake: Notify,
}

#[derive(Default)]
struct State {
    unsent: Vec<u8>,
    /// Packets that end in there.
    packets: usize,
    broken: bool,
}

impl Line {
    pub(crate) fn new(socket: TcpStream, framing: Framing) -> Arc<Self> {
        let (state, wake) = (Mutex::default(), Notify::new());
        Arc::new(Line { socket, framing, state, wake })
    }

    /// Sends a packet of two parts. `false`: it has not left yet; [`Line::flush`] says when it has.
    pub(crate) fn send(&self, packet: &[u8], body: &[u8]) -> bool {
        let mut header = [0; MAX_HEADER];
        let header = self.framing.header(packet.len() + body.len(), &mut header);
        let mut state = self.lock();
        let is_sent = self.write(&mut state, [header, packet, body]);
        if !is_sent {
            state.packets += 1;
            drop(state);
            self.wake.notify_one();
        }
        is_sent
    }

    /// Ends a WebSocket, in its own words.
    pub(crate) fn send_close(&self, code: u16, reason: &str) {
        if self.framing == Framing::WebSocket {
            let length = [CLOSE, 2 + reason.len() as u8];
            self.write(&mut self.lock(), [&length, &code.to_be_bytes(), reason.as_bytes()]);
        }
    }

    /// Waits until something does not leave at once.
    pub(crate) async fn waits(&self) {
        self.wake.notified().await;
    }

    /// Waits until all has left: how many packets that were.
    pub(crate) async fn flush(&self) -> Result<usize, Gone> {
        loop {
            {
                let mut state = self.lock();
                self.push(&mut state);
                if state.broken {
                    return Err(Gone);
                }
                if state.unsent.is_empty() {
                    return Ok(std::mem::take(&mut state.packets));
                }
            }
            self.socket.writable().await.map_err(|_| Gone)?;
        }
    }

    /// Tells the other end that nothing more comes.
    pub(crate) fn finish(&self) {
        let _ = socket2::SockRef::from(&self.socket).shutdown(std::net::Shutdown::Write);
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// `true`: all of it has left.
    fn write(&self, state: &mut State, parts: [&[u8]; 3]) -> bool {
        let mut sent = 0;
        if state.unsent.is_empty() && !state.broken {
            match self.try_write(parts) {
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
        state.unsent.is_empty() && !state.broken
    }

    fn try_write(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let length = parts.iter().map(|part| part.len()).sum();
        let mut whole = [0; SHORT];
        let Some(whole) = whole.get_mut(..length) else {
            return self.socket.try_write_vectored(&parts.map(IoSlice::new));
        };
        let mut rest = &mut *whole;
        for part in parts {
            let (place, after) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = after;
        }
        self.socket.try_write(whole)
    }

    /// Sends what the kernel takes of what waits.
    fn push(&self, state: &mut State) {
        let mut sent = 0;
        while sent < state.unsent.len() && !state.broken {
            match self.socket.try_write(&state.unsent[sent..]) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => state.broken = true,
            }
        }
        match sent == state.unsent.len() {
            // An idle connection keeps no buffer.
            true => state.unsent = Vec::new(),
            false => drop(state.unsent.drain(..sent)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Framing {
    /// Writes what stands before a packet of so many bytes.
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

/// The socket as a library wants it that reads from it, and writes an answer now and then.
pub(crate) struct Stream(pub(crate) Arc<Line>);

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.socket.poll_read_ready(cx))?;
            match self.0.socket.try_read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stream {
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
