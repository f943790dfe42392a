//! Carries bytes between a program and the stream to the other end, in both directions at once.

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

/// How often a connection's report is renewed, at most.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Carries bytes until both directions have ended. Only then does the program see an end when its connection is dropped,
/// and not a reset.
pub(crate) async fn relay<T: AsyncRead + AsyncWrite + Unpin>(
    program: &mut TcpStream,
    stream: Stream<T>,
    way: Way<'_>,
    interrupt: impl Future<Output = ConnectionError>,
) -> Result<(), ConnectionError> {
    let mut relay = Relay {
        program,
        stream,
        workbench: way.workbench,
        at_once: way.sizes.block.min(CHUNK),
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
            way.entry.reports(relay.stream.report(), !way.permission.is_denied());
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

/// What a connection goes with.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) workbench: &'a Workbench,
    pub(crate) permission: &'a Permission,
    pub(crate) entry: &'a Connection,
    pub(crate) sizes: Sizes,
}

struct Relay<'a, T> {
    program: &'a mut TcpStream,
    stream: Stream<T>,
    workbench: &'a Workbench,
    /// Bytes that are read of the program at once: what the stream may not take yet is held.
    at_once: usize,
    up: Up,
    /// The stream was written to since it was flushed.
    is_unflushed: bool,
    /// Why the stream takes no more. What it still gives may say why better.
    lost: Option<ConnectionError>,
    down: Down,
}

/// From the program to the stream.
enum Up {
    /// Nothing is held.
    Idle,
    /// Bytes that the stream has not taken yet: these of the chunk.
    Holding {
        chunk: Chunk,
        from: usize,
        to: usize,
    },
    /// The program has ended its direction, which the stream is being told.
    Ending,
    Ended,
}

/// From the stream to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Down {
    Open,
    /// The stream has ended, which the program is being told.
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
        // Both have ended. Now the connection is closed in an orderly way.
        Pin::new(&mut self.stream).poll_shutdown(cx).map_err(ConnectionError::Tunnel)
    }

    fn poll_up(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        loop {
            match &mut self.up {
                Up::Idle => {
                    let mut chunk = self.workbench.chunk();
                    let mut buf = ReadBuf::new(&mut chunk[..self.at_once]);
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

    /// The program has nothing more at present: what it wrote must not wait.
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
            let bytes = ready!(Pin::new(&mut *stream).poll_fill_buf(cx)).map_err(told)?;
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
                // It has closed altogether.
                Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                    return Poll::Ready(Err(ConnectionError::Program(error)));
                }
                _ => *down = Down::Ended,
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// What the stream's error says: maybe that the other end refused.
fn told(error: io::Error) -> ConnectionError {
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
