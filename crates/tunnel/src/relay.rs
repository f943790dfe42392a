//! Copies bytes between a program and the stream to the other end of the tunnel, in both directions
//! at once.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::connections::Connection;
use crate::error::ConnectionError;
use crate::policy::Permission;
use crate::sockets::close_in_order;
use crate::workbench::{CHUNK, Chunk};
use crate::{Sizes, Stream, Workbench};

/// The shortest time between two updates of a connection's report: five per second are enough for a
/// display.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Copies bytes until both directions have ended, the copy fails or `interrupt` completes. Dropping
/// the program's connection afterwards closes it in order only if both directions have ended;
/// otherwise the program sees a reset.
pub(crate) async fn relay<T: AsyncRead + AsyncWrite + Unpin>(
    program: &mut TcpStream,
    stream: Stream<T>,
    context: RelayContext<'_>,
    interrupt: impl Future<Output = ConnectionError>,
) -> Result<(), ConnectionError> {
    let mut relay = Relay {
        program,
        stream,
        workbench: context.workbench,
        read_size: context.sizes.block.min(CHUNK),
        up: Up::Idle,
        is_unflushed: false,
        lost: None,
        down: Down::Open,
    };
    let mut reported = Instant::now();
    let carried = poll_fn(|cx| {
        let outcome = relay.poll(cx);
        if outcome.is_ready() || reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            context.entry.set_report(relay.stream.report(), !context.permission.is_denied());
        }
        outcome
    });
    let outcome = tokio::select! {
        outcome = carried => outcome,
        error = interrupt => Err(error),
    };
    if outcome.is_ok() {
        close_in_order(program);
    }
    outcome
}

/// What a relay needs of the tunnel and of its connection.
#[derive(Clone, Copy)]
pub(crate) struct RelayContext<'a> {
    pub(crate) workbench: &'a Workbench,
    pub(crate) permission: &'a Permission,
    pub(crate) entry: &'a Connection,
    pub(crate) sizes: Sizes,
}

struct Relay<'a, T> {
    program: &'a mut TcpStream,
    stream: Stream<T>,
    workbench: &'a Workbench,
    /// The most bytes of one read from the program. They stay in memory until the stream accepts
    /// them.
    read_size: usize,
    up: Up,
    /// Whether bytes were written to the stream since its last flush.
    is_unflushed: bool,
    /// The error of writing to the stream. It is reported only after reading ends, because reading
    /// may give a better reason, such as a refusal.
    lost: Option<ConnectionError>,
    down: Down,
}

/// State of the direction from the program to the stream.
enum Up {
    /// All bytes that were read have been written to the stream.
    Idle,
    /// The bytes `from..to` of the chunk, which the stream has not accepted yet.
    Holding {
        chunk: Chunk,
        from: usize,
        to: usize,
    },
    /// The program has closed its direction, and the stream is being shut down.
    Ending,
    Ended,
}

/// State of the direction from the stream to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Down {
    Open,
    /// The stream has ended, and the connection to the program is being shut down.
    Ending,
    Ended,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Relay<'_, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let up = match &self.lost {
            Some(_) => Poll::Pending,
            None => match self.poll_up(cx) {
                Poll::Ready(Err(error @ ConnectionError::Tunnel(_))) => {
                    self.lost = Some(error);
                    Poll::Pending
                }
                outcome => outcome,
            },
        };
        let is_up_done = up?.is_ready();
        ready!(self.poll_down(cx))?;
        if let Some(error) = self.lost.take() {
            return Poll::Ready(Err(error));
        }
        if !is_up_done {
            return Poll::Pending;
        }
        // Both directions have ended, so this shuts down the transport below the stream.
        Pin::new(&mut self.stream).poll_shutdown(cx).map_err(ConnectionError::Tunnel)
    }

    fn poll_up(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        loop {
            match &mut self.up {
                Up::Idle => {
                    let mut chunk = self.workbench.chunk();
                    let mut buf = ReadBuf::new(&mut chunk[..self.read_size]);
                    let polled = Pin::new(&mut *self.program).poll_read(cx, &mut buf);
                    let length = buf.filled().len();
                    if length > 0 {
                        self.up = Up::Holding { chunk, from: 0, to: length };
                        continue;
                    }
                    self.workbench.put_back(chunk);
                    match polled {
                        Poll::Ready(outcome) => outcome.map_err(ConnectionError::Program)?,
                        Poll::Pending => return self.poll_idle(cx),
                    }
                    self.up = Up::Ending;
                }
                Up::Holding { chunk, from, to } => {
                    let stream = Pin::new(&mut self.stream);
                    let taken = ready!(stream.poll_write(cx, &chunk[*from..*to]));
                    *from += taken.map_err(ConnectionError::Tunnel)?;
                    self.is_unflushed = true;
                    if from == to
                        && let Up::Holding { chunk, .. } = mem::replace(&mut self.up, Up::Idle)
                    {
                        self.workbench.put_back(chunk);
                    }
                }
                Up::Ending => {
                    let ended = ready!(Pin::new(&mut self.stream).poll_shutdown(cx));
                    ended.map_err(ConnectionError::Tunnel)?;
                    self.up = Up::Ended;
                }
                Up::Ended => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Flushes the stream when the program has no more bytes at present.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        if self.is_unflushed {
            let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
            flushed.map_err(ConnectionError::Tunnel)?;
            self.is_unflushed = false;
        }
        Poll::Pending
    }

    fn poll_down(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let Relay { program, stream, down, .. } = self;
        while *down == Down::Open {
            let bytes = ready!(Pin::new(&mut *stream).poll_fill_buf(cx)).map_err(read_error)?;
            if bytes.is_empty() {
                *down = Down::Ending;
                break;
            }
            let written = ready!(Pin::new(&mut **program).poll_write(cx, bytes));
            match written.map_err(ConnectionError::Program)? {
                0 => {
                    return Poll::Ready(Err(ConnectionError::Program(
                        io::ErrorKind::WriteZero.into(),
                    )));
                }
                written => Pin::new(&mut *stream).consume(written),
            }
        }
        if *down == Down::Ending {
            let ended = ready!(Pin::new(&mut **program).poll_shutdown(cx));
            match ended {
                // `NotConnected`: the program has closed both directions.
                Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                    return Poll::Ready(Err(ConnectionError::Program(error)));
                }
                _ => *down = Down::Ended,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Converts an error of reading the stream. A refusal may be wrapped in several errors.
pub(crate) fn read_error(error: io::Error) -> ConnectionError {
    let mut cause: Option<&(dyn Error + 'static)> = error.get_ref().map(|cause| cause as _);
    while let Some(inner) = cause {
        match inner.downcast_ref() {
            Some(ConnectionError::Refused(refusal)) => {
                return ConnectionError::Refused(refusal.clone());
            }
            Some(ConnectionError::NoTunnel(peer)) => {
                return ConnectionError::NoTunnel(peer.clone());
            }
            _ => cause = inner.source(),
        }
    }
    ConnectionError::Tunnel(error)
}
