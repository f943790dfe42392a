//! Sends sockets to another process, and receives them (`SCM_RIGHTS`).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use socket2::Socket;

/// The byte that carries the sockets. No line of JSON begins with it.
const MARK: u8 = 0;

/// The most sockets: a server has five.
const MOST: usize = 16;

/// Sends sockets. This process keeps its own descriptors of them.
pub(super) fn send(stream: &UnixStream, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(io::Error::other("too many sockets"));
    }
    sendmsg(stream, &[IoSlice::new(&[MARK])], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Receives sockets. `None` if the other process answers something else.
pub(super) fn receive(stream: &UnixStream) -> io::Result<Option<Vec<Socket>>> {
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    let flags = RecvFlags::CMSG_CLOEXEC;
    // The flag is missing here, which does no harm: this process starts no other programs.
    #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
    let flags = RecvFlags::empty();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut mark = [MARK + 1];
    let got = recvmsg(stream.as_fd(), &mut [IoSliceMut::new(&mut mark)], &mut control, flags)?;
    let mut sockets = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            sockets.extend(descriptors.map(Socket::from));
        }
    }
    Ok((got.bytes == 1 && mark == [MARK]).then_some(sockets))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_socket_listens_in_the_process_that_receives_it() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        send(&ours, &[listener.as_fd()]).unwrap();
        let waiting = TcpStream::connect(address).unwrap();
        drop(listener);
        let sockets = receive(&theirs).unwrap().unwrap();
        assert_eq!(sockets.len(), 1);
        let (accepted, _) = sockets[0].accept().unwrap();
        let peer = accepted.peer_addr().unwrap().as_socket();
        assert_eq!(peer, Some(waiting.local_addr().unwrap()));
        // An older server answers with a line.
        ours.write_all(b"{").unwrap();
        assert!(receive(&theirs).unwrap().is_none());
        drop(ours);
        assert!(receive(&theirs).unwrap().is_none());
    }
}
