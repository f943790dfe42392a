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
/// The longest time that an end waits for the other one after everything was sent.
const FAREWELL: Duration = Duration::from_secs(2);

/// The files to be sent, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer<'a> {
    /// The files, which are sent one behind the other.
    pub(super) files: &'a [&'a [u8]],
    /// Whether the files are sent again and again, until the time is up.
    pub(super) is_endless: bool,
    /// The time after which the transfer is stopped.
    pub(super) limit: Duration,
}

/// The outcome of a transfer.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// The files that arrived.
    pub(super) arrived: Arrived,
    /// The bytes that went over the network for it, above TCP.
    pub(super) wire: u64,
}

impl<'a> Transfer<'a> {
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
            if start.elapsed() < self.limit { sent.map(|()| outcome) } else { Ok(outcome) }
        })
    }

    /// The files in pieces of at most [`PIECE`] bytes, in the order in which they are sent.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (files, rounds) = (self.files, if self.is_endless { usize::MAX } else { 1 });
        (0..rounds).flat_map(|_| files.iter()).flat_map(|file| file.chunks(PIECE))
    }

    async fn send(&self, ends: &Ends, socket: TcpStream, start: Instant) -> io::Result<()> {
        let mut stream = open(ends, socket)?;
        let until = Deadline::from_std(start + self.limit);
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
        // bytes that are still under way.
        let end = timeout_at(Deadline::now() + FAREWELL, stream.read(&mut [0])).await;
        drop(end);
        Ok(())
    }

    async fn receive(&self, ends: &Ends, socket: TcpStream, start: Instant) -> io::Result<Outcome> {
        let mut stream = open(ends, socket)?;
        let (mut witness, mut piece) = (Witness::new(self.files, start), vec![0; PIECE]);
        let until = Deadline::from_std(start + self.limit);
        let all = async {
            loop {
                match stream.read(&mut piece).await? {
                    0 => return stream.shutdown().await,
                    count => witness.take(&piece[..count]),
                }
            }
        };
        match timeout_at(until, all).await {
            Ok(Err(error)) if start.elapsed() < self.limit => return Err(error),
            _ => {}
        }
        Ok(Outcome { arrived: witness.finish(), wire: stream.report().wire_in })
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
