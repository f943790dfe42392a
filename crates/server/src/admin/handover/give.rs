//! The old process: hands its sockets over, and begins to end.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::descriptors::send;
use crate::admin::protocol::{MAX_REQUEST, Reply, Request, read_line, write_line};
use crate::lifecycle::drain::{Drain, Ending};
use crate::lifecycle::sockets::Handover;

/// Hands the sockets over to the process at the other end, and ends this process once the other one
/// says that it is ready.
///
/// # Errors
/// The other process did not become ready. This process then goes on.
pub(crate) fn give(handover: &Handover, drain: &Drain, mut stream: &UnixStream) -> io::Result<()> {
    {
        let own = handover.own();
        let sockets: Vec<_> = own.iter().map(|(_, socket)| socket.as_fd()).collect();
        send(stream, &sockets)?;
        let lines = own.iter().map(|(line, _)| line.clone()).collect();
        write_line(&mut stream, &Reply::Sockets(lines))?;
    }
    tracing::info!("another process asks for the sockets of this one");
    let reply = match read_line(stream, MAX_REQUEST) {
        Ok(Request::TakeOver) if drain.end_wait(Ending::HandOver) => {
            handover.leave_files();
            Reply::TakenOver
        }
        Ok(Request::TakeOver) => Reply::Failed("it is stopping already".to_owned()),
        Ok(_) => Reply::Failed("this is no request to take over".to_owned()),
        Err(error) => {
            return Err(io::Error::other(format!("the other process gave up: {error}")));
        }
    };
    write_line(&mut stream, &reply)
}
