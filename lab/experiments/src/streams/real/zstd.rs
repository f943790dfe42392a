//! The policy zstd-adapt: `zstd --adapt` at one end and `zstd -d` at the other.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use super::processor::{Core, pin};
use super::transfer::{Outcome, PIECE, Transfer};
use super::witness::Witness;

/// Sends files: what the program makes goes into the socket as it is, and comes out of it, counted,
/// into the program that unpacks it.
///
/// # Errors
/// A call to the operating system fails.
pub(super) fn run(
    transfer: &Transfer<'_>,
    program: &Path,
    start: Instant,
    [server, client]: [TcpStream; 2],
) -> io::Result<Outcome> {
    let (to_stop, wire) = (client.try_clone()?, AtomicU64::new(0));
    let mut packer = on(Core::Server, || {
        let mut command = Command::new(program);
        command.args(["--adapt", "-q", "-c"]);
        command.stdin(Stdio::piped()).stdout(OwnedFd::from(server)).stderr(Stdio::null());
        command.spawn()
    })?;
    let mut unpacker = on(Core::Client, || {
        let mut command = Command::new(program);
        command.args(["-d", "-q", "-c"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn()
    })?;
    let ends = (packer.stdin.take(), unpacker.stdin.take(), unpacker.stdout.take());
    let (Some(mut input), Some(mut packed), Some(mut output)) = ends else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (is_over, over) = channel::<()>();
    let arrived = thread::scope(|scope| {
        // If one of these threads fails, the source of the next one ends.
        scope.spawn(move || {
            let _ = pin(Core::Server.number());
            let _ = transfer.pieces().try_for_each(|piece| input.write_all(piece));
        });
        let (mut client, wire) = (client, &wire);
        scope.spawn(move || {
            let (_, mut piece) = (pin(Core::Client.number()), vec![0; PIECE]);
            while let Ok(count @ 1..) = client.read(&mut piece) {
                wire.fetch_add(count as u64, Ordering::Relaxed);
                if packed.write_all(&piece[..count]).is_err() {
                    break;
                }
            }
        });
        let receiver = scope.spawn(move || {
            pin(Core::Client.number())?;
            let (mut witness, mut piece) = (Witness::new(transfer.files, start), vec![0; PIECE]);
            // The output ends early when the time is up, which is no error.
            while let Ok(count @ 1..) = output.read(&mut piece) {
                witness.take(&piece[..count]);
            }
            drop(is_over);
            Ok(witness.finish())
        });
        let left = transfer.limit.saturating_sub(start.elapsed());
        if over.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            stop(&mut packer, &mut unpacker, &to_stop);
        }
        let panicked = |_| Err(io::Error::other("the receiver panicked"));
        receiver.join().unwrap_or_else(panicked)
    });
    stop(&mut packer, &mut unpacker, &to_stop);
    // Both processes were told to end.
    let (_, _) = (packer.wait(), unpacker.wait());
    Ok(Outcome::new(arrived?, wire.into_inner()))
}

fn stop(packer: &mut Child, unpacker: &mut Child, client: &TcpStream) {
    // Killing fails for processes that have ended, which does no harm.
    let _ = (packer.kill(), unpacker.kill());
    let _ = client.shutdown(Shutdown::Both);
}

/// Calls a function on a core. Processes that it starts stay there.
fn on<T: Send>(core: Core, job: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let done = thread::scope(|scope| {
        scope
            .spawn(|| {
                pin(core.number())?;
                job()
            })
            .join()
    });
    done.unwrap_or_else(|_| Err(io::Error::other("what starts a program panicked")))
}
