//! A TCP socket, encrypted by TLS or not, that one task reads and several write without waiting.

use std::hint::black_box;
use std::io::{self, ErrorKind, IoSlice, Read};
use std::net::Shutdown;
#[cfg(unix)]
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

#[cfg(target_os = "linux")]
use rustix::{io::Errno, net::SendFlags};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::coop::poll_proceed;
use tokio_rustls::rustls::ServerConfig;

use super::tls_state::TlsState;

/// Packets up to this size are copied into one buffer: for them `writev` costs more than a copy and
/// `send`.
const SHORT: usize = 512;

/// Most encrypted bytes of packets that wait for the kernel: the largest packet, so that its rest
/// need not be encrypted later.
const ENCRYPTED: usize = 96 << 10;

/// Most encrypted bytes of HTTP that wait for the kernel: one record. More of them would be out of
/// date when they are sent.
const ENCRYPTED_HTTP: usize = 16 << 10;

/// A socket with what TLS knows about it.
pub(crate) struct Link {
    socket: TcpStream,
    /// Boxed, because most of the state of TLS is not needed when a packet is written, and a plain
    /// socket has none.
    tls: Option<Box<Mutex<TlsState>>>,
}

impl Link {
    pub(crate) fn plain(socket: TcpStream) -> Self {
        Link { socket, tls: None }
    }

    pub(crate) fn encrypted(stream: TlsStream) -> Self {
        let TlsStream(link) = stream;
        if let Some(mut tls) = link.lock() {
            tls.set_limit(ENCRYPTED);
        }
        link
    }

    /// Loads the memory that writing needs into the processor's cache.
    pub(crate) fn load(&self) {
        #[cfg(unix)]
        black_box(self.socket.as_raw_fd());
        black_box(self.tls.is_some());
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Writes some of the parts and returns how many bytes it took. Encrypted bytes may wait for
    /// the kernel afterwards: see [`Link::is_flushed`].
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if the kernel takes nothing now; otherwise the connection is
    /// broken.
    pub(crate) fn try_write(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        let Some(mut tls) = self.lock() else { return self.try_write_plain(parts) };
        self.flush(&mut tls)?;
        let taken = tls.encrypt(parts)?;
        match self.flush(&mut tls) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
        }
    }

    /// Gives the kernel the encrypted bytes that wait for it.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if some still wait; otherwise the connection is broken.
    pub(crate) fn try_flush(&self) -> io::Result<()> {
        self.lock().map_or(Ok(()), |mut tls| self.flush(&mut tls))
    }

    /// True if no encrypted bytes wait for the kernel.
    pub(crate) fn is_flushed(&self) -> bool {
        self.lock().is_none_or(|tls| tls.waiting().is_empty())
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            // Records without data, such as those that change keys, must not keep the thread from
            // other tasks.
            let budget = ready!(poll_proceed(cx));
            match self.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    budget.made_progress();
                    let Some(bytes) = read else { continue };
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => drop(budget),
                Err(error) => return Poll::Ready(Err(error)),
            }
            ready!(self.socket.poll_read_ready(cx))?;
        }
    }

    /// Does something until the kernel takes the bytes.
    fn poll_until_taken<T>(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        loop {
            match write() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
            ready!(self.socket.poll_write_ready(cx))?;
        }
    }

    /// Goes on with a handshake. Returns whether it goes on after that.
    fn shake_hands(&self) -> io::Result<bool> {
        let Some(mut tls) = self.lock() else { return Ok(false) };
        if tls.is_handshaking() {
            self.receive(&mut tls)?;
        }
        Ok(tls.is_handshaking() || !tls.waiting().is_empty())
    }

    /// Shuts the sending direction down, so that the client sees the end of the stream.
    pub(crate) fn finish(&self) {
        if let Some(mut tls) = self.lock() {
            tls.finish();
            // If the flush fails, the client sees a broken connection, which does no harm.
            let _ = self.flush(&mut tls);
        }
        let _ = SockRef::from(&self.socket).shutdown(Shutdown::Write);
    }

    fn try_write_plain(&self, parts: [&[u8]; 3]) -> io::Result<usize> {
        if let [whole, [], []] = parts {
            return write_socket(&self.socket, whole);
        }
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
        write_socket(&self.socket, whole)
    }

    /// Reads bytes; `None` if what was received holds none.
    fn try_read(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(mut tls) = self.lock() else { return read_socket(&self.socket, bytes).map(Some) };
        if let Some(read) = tls.take(bytes) {
            return Ok(Some(read));
        }
        self.receive(&mut tls)?;
        Ok(tls.take(bytes))
    }

    fn receive(&self, tls: &mut TlsState) -> io::Result<()> {
        let received = tls.receive(|buffer| read_socket(&self.socket, buffer));
        // TLS may have an answer, such as an alert. Bytes that the kernel does not take are sent
        // later.
        let _ = self.flush(tls);
        received
    }

    fn flush(&self, tls: &mut TlsState) -> io::Result<()> {
        while !tls.waiting().is_empty() {
            match write_socket(&self.socket, tls.waiting())? {
                0 => return Err(ErrorKind::WriteZero.into()),
                sent => tls.sent(sent),
            }
        }
        Ok(())
    }

    fn lock(&self) -> Option<MutexGuard<'_, TlsState>> {
        self.tls.as_ref().map(|tls| tls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes to a socket.
#[cfg(not(target_os = "linux"))]
fn write_socket(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    socket.try_write(bytes)
}

/// Writes to a socket without asking tokio first whether it takes anything: tokio notes that
/// elsewhere in memory.
#[cfg(target_os = "linux")]
fn write_socket(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
        // Tokio has to learn of it, to wait until the socket takes something.
        Err(Errno::AGAIN) => socket.try_write(bytes),
        written => Ok(written?),
    }
}

/// Reads from a socket. If the buffer is not filled, the socket has nothing more now, which saves a
/// system call to find that out.
fn read_socket(socket: &TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
    // Other systems may say nothing of what comes later until a read has found nothing, so tokio
    // reads there.
    if !cfg!(target_os = "linux") {
        return socket.try_read(bytes);
    }
    let mut last = None;
    let outcome = socket.try_io(Interest::READABLE, || {
        let read = (&*SockRef::from(socket)).read(bytes)?;
        match 0 < read && read < bytes.len() {
            // The error tells tokio that the socket has nothing more. What has come after tokio's
            // last look remains noted.
            true => {
                last = Some(read);
                Err(ErrorKind::WouldBlock.into())
            }
            false => Ok(read),
        }
    });
    last.map_or(outcome, Ok)
}

/// An encrypted connection as a stream, for HTTP.
pub(crate) struct TlsStream(Link);

impl TlsStream {
    /// Carries out the handshake of a server.
    pub(crate) async fn accept(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Self> {
        let tls = TlsState::new(config, ENCRYPTED_HTTP)?;
        let link = Link { socket, tls: Some(Box::new(Mutex::new(tls))) };
        loop {
            if let Err(error) = link.try_flush() {
                if error.kind() != ErrorKind::WouldBlock {
                    return Err(error);
                }
                link.socket.writable().await?;
                continue;
            }
            match link.shake_hands() {
                Ok(true) => {}
                Ok(false) => return Ok(TlsStream(link)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    link.socket.readable().await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// True if both ends have agreed on this protocol (RFC 7301).
    pub(crate) fn speaks(&self, protocol: &[u8]) -> bool {
        self.0.lock().is_some_and(|tls| tls.protocol() == Some(protocol))
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, buffer)
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_until_taken(cx, || self.0.try_write([bytes, &[], &[]]))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_until_taken(cx, || self.0.try_flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(mut tls) = self.0.lock() {
            tls.finish();
        }
        ready!(self.0.poll_until_taken(cx, || self.0.try_flush()))?;
        // A client that has gone already is no error.
        match SockRef::from(&self.0.socket).shutdown(Shutdown::Write) {
            Err(error) if error.kind() == ErrorKind::NotConnected => Poll::Ready(Ok(())),
            done => Poll::Ready(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::ends::socket_writer::{Framing, SocketStream, SocketWriter};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bytes_that_come_after_a_buffer_was_not_filled_are_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let sending = tokio::spawn(async move {
            for nth in 0..2000_u32 {
                let bytes = vec![nth as u8; nth as usize % 30 + 1];
                client.write_all(&bytes).await.unwrap();
                if nth % 3 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            // The end of the stream comes with the last bytes, or after them.
        });
        let mut stream = SocketStream(SocketWriter::new(Link::plain(server), Framing::Length));
        let (mut received, mut buffer) = (Vec::new(), [0; 16]);
        loop {
            match stream.read(&mut buffer).await.unwrap() {
                0 => break,
                read => received.extend_from_slice(&buffer[..read]),
            }
        }
        sending.await.unwrap();
        let expected: Vec<u8> =
            (0..2000_u32).flat_map(|nth| vec![nth as u8; nth as usize % 30 + 1]).collect();
        assert_eq!(received, expected);
    }
}
