//! The sockets of measured packets, at both machines: over UDP and TCP a ticket opens them, which
//! the agent has told through the tunnel.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;

use super::protocol::{PATIENCE, TICKET};
use crate::host::on_first_free;

/// The pause between two tickets over UDP, which may be lost, and how many are sent.
const AGAIN: Duration = Duration::from_millis(100);

/// A socket that waits for its ticket.
#[derive(Debug)]
pub(super) enum Waiting {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

/// A socket of measured packets.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A socket that is connected, so that it receives from the other machine only.
    Udp(UdpSocket),
    Tcp(TcpStream),
}

impl Waiting {
    /// Opens a socket on the first free one of these ports.
    pub(super) fn open(
        is_tcp: bool,
        address: IpAddr,
        ports: impl IntoIterator<Item = u16>,
    ) -> io::Result<Self> {
        on_first_free(ports, |port| match is_tcp {
            true => TcpListener::bind((address, port)).map(Waiting::Tcp),
            false => UdpSocket::bind((address, port)).map(Waiting::Udp),
        })
    }

    pub(super) fn port(&self) -> io::Result<u16> {
        Ok(match self {
            Waiting::Udp(socket) => socket.local_addr()?.port(),
            Waiting::Tcp(listener) => listener.local_addr()?.port(),
        })
    }

    /// Waits for the ticket. Everything else is ignored and answered by nothing.
    pub(super) fn accept(self, ticket: &[u8; TICKET]) -> io::Result<Opened> {
        let until = Instant::now() + PATIENCE;
        let is_it = |shown: &[u8]| bool::from(shown.ct_eq(ticket));
        while Instant::now() < until {
            match &self {
                Waiting::Udp(socket) => {
                    let mut packet = [0; TICKET + 1];
                    socket.set_read_timeout(Some(AGAIN))?;
                    if let Ok((len, from)) = socket.recv_from(&mut packet)
                        && is_it(&packet[..len])
                    {
                        socket.connect(from)?;
                        return Ok(Opened::Udp(socket.try_clone()?));
                    }
                }
                Waiting::Tcp(listener) => {
                    listener.set_nonblocking(true)?;
                    let Ok((mut stream, _)) = listener.accept() else {
                        std::thread::sleep(AGAIN / 10);
                        continue;
                    };
                    stream.set_nonblocking(false)?;
                    stream.set_read_timeout(Some(PATIENCE / 5))?;
                    let mut shown = [0; TICKET];
                    if stream.read_exact(&mut shown).is_ok() && is_it(&shown) {
                        stream.set_read_timeout(None)?;
                        return Ok(Opened::Tcp(stream));
                    }
                }
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "nobody showed the ticket"))
    }
}

impl Opened {
    /// Opens a socket to an agent, by its ticket. `is_seen` waits for this long for the agent to
    /// say that the ticket has come, and returns whether it has.
    pub(super) fn to(
        agent: SocketAddr,
        is_tcp: bool,
        ticket: &[u8; TICKET],
        mut is_seen: impl FnMut(Duration) -> io::Result<bool>,
    ) -> io::Result<Self> {
        if is_tcp {
            let mut stream = TcpStream::connect_timeout(&agent, PATIENCE)?;
            stream.write_all(ticket)?;
            return match is_seen(PATIENCE)? {
                true => Ok(Opened::Tcp(stream)),
                false => Err(io::Error::other("its TCP port does not answer")),
            };
        }
        let any: SocketAddr = match agent {
            SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(agent)?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            // An error is that of an earlier datagram, which nobody expected yet.
            let _ = socket.send(ticket);
            if is_seen(AGAIN)? {
                return Ok(Opened::Udp(socket));
            }
        }
        Err(io::Error::other("no datagram reaches it; open its UDP ports (--data)"))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn only_the_ticket_opens_a_socket() {
        let ticket = [7; TICKET];
        let udp = Waiting::open(false, LOCALHOST, [0]).unwrap();
        let tcp = Waiting::open(true, LOCALHOST, [0]).unwrap();
        let [to_udp, to_tcp] = [&udp, &tcp].map(|one| (LOCALHOST, one.port().unwrap()));
        let stranger = UdpSocket::bind((LOCALHOST, 0)).unwrap();
        stranger.send_to(&[6; TICKET], to_udp).unwrap();
        stranger.send_to(&[7; TICKET + 1], to_udp).unwrap();
        let friend = UdpSocket::bind((LOCALHOST, 0)).unwrap();
        friend.send_to(&ticket, to_udp).unwrap();
        let Opened::Udp(opened) = udp.accept(&ticket).unwrap() else { panic!("it is UDP") };
        assert_eq!(opened.peer_addr().unwrap(), friend.local_addr().unwrap());
        let mut stranger = TcpStream::connect(to_tcp).unwrap();
        stranger.write_all(&[6; TICKET]).unwrap();
        let mut friend = TcpStream::connect(to_tcp).unwrap();
        friend.write_all(&ticket).unwrap();
        let Opened::Tcp(opened) = tcp.accept(&ticket).unwrap() else { panic!("it is TCP") };
        assert_eq!(opened.peer_addr().unwrap(), friend.local_addr().unwrap());
    }
}
