//! The engine of a stream: moves bytes to and from the transport, lets blocks be compressed and
//! decompressed, and wakes the tasks that wait.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use groupwire_ace::Duplex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep, sleep_until};

use super::failure::Failure;
use super::wakers::{Half, Wakers};
use crate::Workbench;

/// The work after which the task yields to other tasks of its thread: several blocks of a fast
/// codec, or one block of a slow one. Being polled again costs a microsecond at most.
const TURN: Duration = Duration::from_micros(500);

/// The idle time after which a stream releases memory. It is longer than a round trip, so a stream
/// of questions and answers keeps its memory.
const REST: Duration = Duration::from_secs(1);

/// How long the other end may take to close the transport after both directions have ended. Closing
/// takes one round trip; this time is several round trips of the slowest networks.
const LINGER: Duration = Duration::from_secs(5);

pub(super) struct Engine<S> {
    pub(super) transport: S,
    pub(super) duplex: Duplex,
    workbench: Workbench,
    start: Instant,
    wakers: Arc<Wakers>,
    /// The waker that polls of the transport use: it wakes both halves.
    waker: Waker,
    /// Time in `drive` since the last wait for a turn.
    turn: Duration,
    /// Time of compression and decompression since the task last yielded.
    worked: Duration,
    /// Whether the application has ended its direction.
    is_finishing: bool,
    /// Whether the transport has accepted bytes since its last flush.
    is_unflushed: bool,
    /// Whether the transport has ended or failed for reading.
    is_over: bool,
    /// Whether the transport's writing half is shut down.
    is_shut: bool,
    /// The reason why nothing more can be read.
    failure: Option<Failure>,
    /// The reason why nothing more can be written. Reading may still be possible.
    write_failure: Option<Failure>,
    /// The timer that limits the wait for the other end to close, after both directions have ended.
    lingering: Option<Pin<Box<Sleep>>>,
    rest: Rest,
}

/// Decides when an idle stream releases memory.
struct Rest {
    /// Time of the last activity.
    last: Instant,
    /// Whether memory was released since the last activity.
    is_resting: bool,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Engine<S> {
    pub(super) fn new(transport: S, duplex: Duplex, workbench: Workbench) -> Self {
        let (start, wakers) = (Instant::now(), Arc::new(Wakers::default()));
        Engine {
            transport,
            duplex,
            workbench,
            start,
            waker: Waker::from(Arc::clone(&wakers)),
            wakers,
            turn: Duration::ZERO,
            worked: Duration::ZERO,
            is_finishing: false,
            is_unflushed: false,
            is_over: false,
            is_shut: false,
            failure: None,
            write_failure: None,
            lingering: None,
            rest: Rest { last: start, is_resting: false, alarm: None },
        }
    }

    /// Ends the outgoing direction: the application writes nothing more.
    pub(super) fn finish(&mut self) {
        if !self.is_finishing {
            self.is_finishing = true;
            self.duplex.finish();
        }
    }

    /// Calls `ask` until it is ready, with a step of work before each repetition. If the result is
    /// pending, the task of this half is woken when `ask` may be ready.
    pub(super) fn drive<T>(
        &mut self,
        half: Half,
        cx: &mut Context<'_>,
        mut ask: impl FnMut(&mut Self) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        // Registered before the transport is polled, because the transport may wake at once.
        self.wakers.register(half, cx.waker());
        let start = Instant::now();
        if let Some(waited) = self.wakers.take_due() {
            self.workbench.note_turn(self.turn, waited);
            self.turn = Duration::ZERO;
        }
        let mut has_moved = false;
        let outcome = loop {
            if let Poll::Ready(outcome) = ask(self) {
                self.wakers.forget(half);
                break Poll::Ready(outcome);
            }
            if self.worked >= TURN {
                self.worked = Duration::ZERO;
                self.wakers.set_due();
                cx.waker().wake_by_ref();
                break Poll::Pending;
            }
            match self.step() {
                Ok(true) => has_moved = true,
                Ok(false) => {
                    self.worked = Duration::ZERO;
                    break Poll::Pending;
                }
                Err(failure) => {
                    self.failure = Some(failure);
                    has_moved = true;
                }
            }
        };
        if has_moved {
            self.rest.stir();
            self.wakers.wake_other(half);
        }
        if outcome.is_pending() {
            self.sleep();
        }
        self.turn += start.elapsed();
        outcome
    }

    /// Ready if decompressed bytes can be read, at the end of the stream, and after a failure.
    pub(super) fn poll_readable(&mut self) -> Poll<io::Result<()>> {
        if !self.duplex.readable().is_empty() {
            return Poll::Ready(Ok(()));
        }
        if self.duplex.is_at_end() {
            self.close();
            return Poll::Ready(Ok(()));
        }
        match &self.failure {
            Some(failure) => Poll::Ready(Err(failure.into())),
            None => Poll::Pending,
        }
    }

    pub(super) fn poll_write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(failure) = self.write_failure() {
            return Poll::Ready(Err(failure.into()));
        }
        if self.is_finishing {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        match self.duplex.write(bytes) {
            0 if !bytes.is_empty() => Poll::Pending,
            taken => Poll::Ready(Ok(taken)),
        }
    }

    /// Ready if the transport has accepted and flushed all bytes that were written.
    pub(super) fn poll_flushed(&mut self) -> Poll<io::Result<()>> {
        match self.write_failure() {
            Some(failure) => Poll::Ready(Err(failure.into())),
            None if self.duplex.is_flushed() && !self.is_unflushed => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    }

    /// Ready if the transport has accepted the end of the direction. If the other direction has
    /// ended too, the transport is shut down, and acknowledgements are read until the other end
    /// closes: bytes that arrive at a closed socket make the system send a reset, on which it may
    /// discard bytes in flight.
    pub(super) fn poll_finished(&mut self) -> Poll<io::Result<()>> {
        let has_ended = self.duplex.is_at_end() && self.is_finishing && self.duplex.is_flushed();
        match self.write_failure() {
            Some(_) if has_ended => Poll::Ready(Ok(())),
            Some(failure) => Poll::Ready(Err(failure.into())),
            None if !self.has_sent_all() => Poll::Pending,
            None if has_ended => self.poll_closed(),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_closed(&mut self) -> Poll<io::Result<()>> {
        if self.poll_shut().is_pending() {
            return Poll::Pending;
        }
        let lingering = self.lingering.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let is_late = lingering.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready();
        if self.is_over || is_late { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn write_failure(&self) -> Option<&Failure> {
        self.write_failure.as_ref().or(self.failure.as_ref())
    }

    fn has_sent_all(&self) -> bool {
        self.is_finishing
            && self.duplex.is_flushed()
            && self.duplex.output().is_empty()
            && !self.is_unflushed
    }

    /// Called when everything was read. If everything was written too, tries to shut down the
    /// transport, because the application may not poll again.
    fn close(&mut self) {
        if self.is_finishing && self.send().is_ok() && self.has_sent_all() {
            let _ = self.poll_shut();
        }
    }

    /// Shuts down the transport's writing half. A failure does not matter, because all bytes have
    /// been delivered.
    fn poll_shut(&mut self) -> Poll<()> {
        if !self.is_shut {
            let cx = &mut Context::from_waker(&self.waker);
            self.is_shut = Pin::new(&mut self.transport).poll_shutdown(cx).is_ready();
        }
        if self.is_shut { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Writes output to the transport, reads input from it, and compresses or decompresses at most
    /// one block. Returns whether anything was done. If not, the transport will wake the tasks.
    fn step(&mut self) -> Result<bool, Failure> {
        let has_sent = self.send()?;
        let has_received = self.receive()?;
        let has_worked = self.work()?;
        Ok(has_sent || has_received || has_worked)
    }

    fn send(&mut self) -> Result<bool, Failure> {
        if self.write_failure.is_some() || self.is_shut {
            return Ok(false);
        }
        match self.send_output() {
            Ok(has_moved) => Ok(has_moved),
            // Bytes that the other end sent before the failure may still be read.
            Err(failure) => {
                self.write_failure = Some(failure);
                Ok(true)
            }
        }
    }

    fn send_output(&mut self) -> Result<bool, Failure> {
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        let mut has_moved = false;
        while !self.duplex.output().is_empty() {
            match Pin::new(&mut self.transport).poll_write(cx, self.duplex.output()) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(taken)) => {
                    self.duplex.sent(self.start.elapsed(), taken);
                    (self.is_unflushed, has_moved) = (true, true);
                }
                Poll::Ready(Err(error)) => return Err(error.into()),
                Poll::Pending => return Ok(has_moved),
            }
        }
        // Flushed without a request of the application, because acknowledgements must not wait. On
        // a socket this does nothing.
        if self.is_unflushed && Pin::new(&mut self.transport).poll_flush(cx)?.is_ready() {
            (self.is_unflushed, has_moved) = (false, true);
        }
        Ok(has_moved)
    }

    fn receive(&mut self) -> Result<bool, Failure> {
        let wanted = self.duplex.wanted();
        if self.is_over || wanted == 0 {
            return Ok(false);
        }
        let Engine { transport, duplex, workbench, waker, start, .. } = self;
        let cx = &mut Context::from_waker(waker);
        let mut chunk = workbench.chunk();
        let wanted = wanted.min(chunk.len());
        let mut buf = ReadBuf::new(&mut chunk[..wanted]);
        let polled = Pin::new(transport).poll_read(cx, &mut buf);
        let now = start.elapsed();
        let received = match polled {
            Poll::Ready(Ok(())) => {
                let taken = duplex.receive(now, buf.filled());
                debug_assert!(taken.is_err() || taken == Ok(buf.filled().len()), "it was wanted");
                taken.map(Some).map_err(Failure::from)
            }
            Poll::Ready(Err(error)) => Err(error.into()),
            Poll::Pending => {
                duplex.starved(now);
                Ok(None)
            }
        };
        workbench.put_back(chunk);
        match received {
            Ok(None) => Ok(false),
            Ok(Some(0)) => self.over(None),
            Ok(Some(_)) => Ok(true),
            Err(failure @ Failure::Stream(_)) => Err(failure),
            Err(failure) => self.over(Some(failure)),
        }
    }

    /// Handles the end or a failure of the transport. A failure after the end of the stream does
    /// not concern the reader.
    fn over(&mut self, failure: Option<Failure>) -> Result<bool, Failure> {
        self.is_over = true;
        if let Err(truncated) = self.duplex.ended() {
            let failure = failure.filter(|failure| !failure.is_end());
            return Err(failure.unwrap_or(truncated.into()));
        }
        // This end still has bytes to send. The other end keeps its writing half open for their
        // acknowledgements, unless it has vanished.
        if !self.has_sent_all() && self.write_failure.is_none() {
            self.write_failure = Some(failure.unwrap_or(io::ErrorKind::BrokenPipe.into()));
        }
        Ok(true)
    }

    fn work(&mut self) -> Result<bool, Failure> {
        let Engine { duplex, workbench, start, .. } = self;
        let before = Instant::now();
        let has_worked =
            workbench.with_coders(|coders| duplex.work(coders, &mut || start.elapsed()))?;
        if has_worked {
            self.worked += before.elapsed();
        }
        Ok(has_worked)
    }

    /// Called when there is no work at present. Releases memory after [`REST`], with an alarm that
    /// wakes the task then.
    fn sleep(&mut self) {
        let Rest { last, is_resting, alarm } = &mut self.rest;
        if *is_resting || !self.duplex.is_flushed() {
            return;
        }
        let due = *last + REST;
        let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        let cx = &mut Context::from_waker(&self.waker);
        while alarm.as_mut().poll(cx).is_ready() {
            if due > Instant::now() {
                alarm.as_mut().reset(due.into());
                continue;
            }
            self.duplex.rest();
            self.rest = Rest { is_resting: true, alarm: None, ..self.rest };
            return;
        }
    }
}

impl Rest {
    /// Records the time of the last activity, and ends the rest.
    fn stir(&mut self) {
        self.last = Instant::now();
        self.is_resting = false;
    }
}
