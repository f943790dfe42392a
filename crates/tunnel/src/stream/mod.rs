//! A byte stream that is compressed on its way over another one.

mod engine;
mod failure;
mod wakers;

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use groupwire_ace::{Duplex, Report, Settings, SettingsError};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

use self::engine::Engine;
use self::wakers::Half;
use crate::Workbench;

/// A byte stream that is sent over `S` in compressed blocks, each by the codec that the settings'
/// policy chooses.
///
/// Both ends must be a `Stream`. Written bytes are collected into blocks;
/// [`poll_flush`](AsyncWrite::poll_flush) sends an incomplete block too. A slow reader slows down
/// the writer at the other end, as on the transport itself.
///
/// [`poll_shutdown`](AsyncWrite::poll_shutdown) ends one direction: the other end reads the end of
/// the stream, and the opposite direction stays open. The transport's writing half stays open until
/// both directions have ended, because it also carries the acknowledgements of received blocks.
///
/// Reading and writing may be cancelled at any point, and may be done by two tasks
/// ([`tokio::io::split`]). Each task moves bytes to and from the transport in both directions.
/// Blocks are compressed and decompressed while the stream is polled; the task yields to other
/// tasks in between. A tokio runtime with time enabled is required: after a second without activity
/// the stream releases memory.
///
/// # Errors
/// The errors of the transport. If the other end violates the protocol or vanishes, the error
/// contains a [`StreamError`](groupwire_ace::StreamError) and has the kind
/// [`InvalidData`](io::ErrorKind::InvalidData) or [`UnexpectedEof`](io::ErrorKind::UnexpectedEof).
/// Bytes that were read before are correct.
///
/// ```
/// use groupwire_ace::Settings;
/// use groupwire_codecs::Costs;
/// use groupwire_tunnel::{Stream, Workbench};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (here, there) = tokio::io::duplex(64 << 10); // or two ends of a TCP connection
/// let (settings, workbench) = (Settings::adaptive(Costs::reference()), Workbench::new());
/// let mut client = Stream::new(here, &settings, &workbench)?;
/// let mut server = Stream::new(there, &settings, &workbench)?;
///
/// let answering = tokio::spawn(async move {
///     let mut question = String::new();
///     server.read_to_string(&mut question).await?;
///     server.write_all(question.to_uppercase().as_bytes()).await?;
///     server.shutdown().await
/// });
/// client.write_all(b"again and again and again").await?;
/// client.shutdown().await?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert_eq!(answer, "AGAIN AND AGAIN AND AGAIN");
/// # answering.await??;
/// # Ok(())
/// # }
/// ```
pub struct Stream<S> {
    engine: Engine<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// A stream over this transport.
    ///
    /// # Errors
    /// Settings that are out of bounds.
    pub fn new(
        transport: S,
        settings: &Settings,
        workbench: &Workbench,
    ) -> Result<Self, SettingsError> {
        Ok(Self::over(transport, Duplex::new(settings)?, workbench))
    }

    /// A stream over this transport with an existing `duplex`, such as one with a custom policy
    /// ([`Duplex::with_policy`]).
    pub fn over(transport: S, duplex: Duplex, workbench: &Workbench) -> Self {
        Stream { engine: Engine::new(transport, duplex, workbench.clone()) }
    }

    /// Counters and forecasts of this stream.
    pub fn report(&self) -> Report {
        self.engine.duplex.report()
    }

    /// The transport.
    pub fn transport(&self) -> &S {
        &self.engine.transport
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncBufRead for Stream<S> {
    /// The decompressed bytes that were received and not read yet; empty at the end of the stream.
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let engine = &mut self.get_mut().engine;
        ready!(engine.drive(Half::Reading, cx, Engine::poll_readable))?;
        Poll::Ready(Ok(engine.duplex.readable()))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().engine.duplex.read(amount);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let readable = ready!(self.as_mut().poll_fill_buf(cx))?;
        let amount = readable.len().min(buf.remaining());
        buf.put_slice(&readable[..amount]);
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let engine = &mut self.get_mut().engine;
        engine.drive(Half::Writing, cx, |engine| engine.poll_write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let engine = &mut self.get_mut().engine;
        if !engine.duplex.is_flushed() {
            engine.duplex.flush();
        }
        engine.drive(Half::Writing, cx, Engine::poll_flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let engine = &mut self.get_mut().engine;
        engine.finish();
        engine.drive(Half::Writing, cx, Engine::poll_finished)
    }
}

impl<S> fmt::Debug for Stream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("duplex", &self.engine.duplex).finish_non_exhaustive()
    }
}
