//! The old process: hands its sockets over, and begins to end.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::descriptors::send;
use crate::admin::protocol::{MAX_REQUEST, read_line, write_line};
use crate::admin::{Reply, Request};
use crate::lifecycle::drain::Ending;
use crate::rooms::hub::Hub;

/// Hands the sockets over to the process at the other end, and ends this process once the other one says that it is ready.
///
/// # Errors
/// The other process did not become ready. This process then goes on.
pub(crate) fn give(hub: &Hub, mut stream: &UnixStream) -> io::Result<()> {
    {
        let own = hub.handover.own();
        let sockets: Vec<_> = own.iter().map(|(_, socket)| socket.as_fd()).collect();
        send(stream, &sockets)?;
        let lines = own.iter().map(|(line, _)| line.clone()).collect();
        write_line(&mut stream, &Reply::Sockets(lines))?;
    }
    tracing::info!("another process asks for the sockets of this one");
    let reply = match read_line(stream, MAX_REQUEST) {
        Ok(Request::TakeOver) if hub.drain.end_wait(Ending::HandOver) => {
            hub.handover.leave_files();
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
