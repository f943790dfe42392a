//! Sends files from the server's core to the client's.

use std::io;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use groupwire_tunnel::{Stream, Workbench};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime;
use tokio::time::{Instant as Deadline, timeout_at};

use super::policy::{Ends, Policy, Way};
use super::processor::{Core, pin};
use super::witness::{Arrived, Witness};
use super::zstd;

/// The bytes that programs write and read at a time.
pub(super) const PIECE: usize = 64 << 10;
/// The shortest time that the sender waits for the receiver after everything was sent.
const FAREWELL: Duration = Duration::from_secs(2);

/// The files to be sent, and for how long.
#[derive(Clone, Copy)]
pub(super) struct Transfer<'a> {
    /// The files, which are sent one behind the other.
    pub(super) files: &'a [&'a [u8]],
    /// Whether the files are sent again and again, until the time is up.
    pub(super) is_endless: bool,
    /// The number of files in a phase.
    pub(super) phase: usize,
    /// The time after which a transfer is stopped if a phase of it lasts so long.
    pub(super) limit: Duration,
    /// Called with the number of complete phases when one is. It is called by the client's end, so
    /// it must not take long.
    pub(super) phase_ended: &'a (dyn Fn(usize) + Sync),
}

/// The outcome of a transfer.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// The files that arrived.
    pub(super) arrived: Arrived,
    /// The bytes that went over the network for it, above TCP.
    pub(super) wire: u64,
    /// Whether the time was up before everything had arrived.
    is_stopped: bool,
}

impl Outcome {
    /// What arrived, and the bytes that went over the network for it.
    pub(super) fn new(arrived: Arrived, wire: u64) -> Outcome {
        Outcome { arrived, wire, is_stopped: false }
    }
}

impl<'a> Transfer<'a> {
    /// A transfer of these files in one phase.
    pub(super) fn once(files: &'a [&'a [u8]], limit: Duration) -> Self {
        Transfer { files, is_endless: false, phase: files.len(), limit, phase_ended: &|_| {} }
    }

    /// The time after which all phases have ended or the transfer was stopped.
    fn whole_limit(&self) -> Duration {
        match self.is_endless {
            true => self.limit,
            false => self.limit * self.files.len().div_ceil(self.phase.max(1)).max(1) as u32,
        }
    }

    /// Sends the files by a policy over a connection: the server's end and the client's.
    ///
    /// # Errors
    /// A call to the operating system fails, or an end refuses what the other one sends.
    pub(super) fn run(
        &self,
        policy: &Policy,
        [server, client]: [TcpStream; 2],
    ) -> io::Result<Outcome> {
        for socket in [&server, &client] {
            socket.set_nodelay(true)?;
        }
        let start = Instant::now();
        let ends = match &policy.way {
            Way::Stream(ends) => ends,
            Way::Zstd(program) => return zstd::run(self, program, start, [server, client]),
        };
        thread::scope(|scope| {
            let sender = scope.spawn(move || on(Core::Server, self.send(ends, server, start)));
            let receiver = scope.spawn(move || on(Core::Client, self.receive(ends, client, start)));
            let (sent, received) = (sender.join(), receiver.join());
            let panicked = || io::Error::other("an end panicked");
            let outcome = received.map_err(|_| panicked())??;
            let sent = sent.map_err(|_| panicked())?;
            // When the time is up, the sender finds the connection closed.
            if outcome.is_stopped { Ok(outcome) } else { sent.map(|()| outcome) }
        })
    }

    /// The files in pieces of at most [`PIECE`] bytes, in the order in which they are sent.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (files, rounds) = (self.files, if self.is_endless { usize::MAX } else { 1 });
        (0..rounds).flat_map(|_| files.iter()).flat_map(|file| file.chunks(PIECE))
    }

    async fn send(&self, ends: &Ends, socket: TcpStream, start: Instant) -> io::Result<()> {
        let mut stream = open(ends, socket)?;
        let until = Deadline::from_std(start + self.whole_limit());
        let all = async {
            for piece in self.pieces() {
                stream.write_all(piece).await?;
            }
            stream.shutdown().await
        };
        match timeout_at(until, all).await {
            Ok(done) => done?,
            // The receiver has closed the connection because it has received enough.
            Err(_) => return Ok(()),
        }
        // If the acknowledgements were not read, a reset would answer them, which would discard
        // bytes that are still under way: on a network that became slow, seconds of them.
        let farewell = until.max(Deadline::now() + FAREWELL);
        let end = timeout_at(farewell, stream.read(&mut [0])).await;
        drop(end);
        Ok(())
    }

    async fn receive(&self, ends: &Ends, socket: TcpStream, start: Instant) -> io::Result<Outcome> {
        let mut stream = open(ends, socket)?;
        let (mut witness, mut piece) = (Witness::new(self.files, start), vec![0; PIECE]);
        let (mut until, mut phases) = (Deadline::from_std(start + self.limit), 0);
        let mut is_stopped = false;
        loop {
            match timeout_at(until, stream.read(&mut piece)).await {
                Ok(Ok(0)) => break,
                Ok(Ok(count)) => witness.take(&piece[..count]),
                // When its time is up, the sender closes the connection.
                Ok(Err(error)) if start.elapsed() < self.whole_limit() => return Err(error),
                Ok(Err(_)) | Err(_) => {
                    is_stopped = true;
                    break;
                }
            }
            let ended = witness.complete() / self.phase.max(1);
            if ended > phases && !self.is_endless {
                phases = ended;
                until = Deadline::now() + self.limit;
                (self.phase_ended)(phases);
            }
        }
        if !is_stopped {
            // The sender waits for this end no longer than its farewell.
            timeout_at(until, stream.shutdown()).await.unwrap_or(Ok(()))?;
        }
        let (arrived, wire) = (witness.finish(), stream.report().wire_in);
        Ok(Outcome { arrived, wire, is_stopped })
    }
}

fn open(ends: &Ends, socket: TcpStream) -> io::Result<Stream<tokio::net::TcpStream>> {
    socket.set_nonblocking(true)?;
    let socket = tokio::net::TcpStream::from_std(socket)?;
    let duplex = ends.end().map_err(io::Error::other)?;
    Ok(Stream::over(socket, duplex, &Workbench::new()))
}

/// Runs a future on a core.
fn on<T>(core: Core, job: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    pin(core.number())?;
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(job)
}
