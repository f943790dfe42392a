//! The sockets of a path, each with a thread that reads it.

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::Carrier;
use crate::emulator::Host;
use crate::far::Opened;

/// The interval at which a thread that waits for datagrams checks whether it is to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A packet that has come.
pub(crate) struct Arrival {
    /// The number of the end it came to.
    pub(super) at: usize,
    pub(super) from: SocketAddr,
    pub(crate) packet: Vec<u8>,
}

/// A socket with its other end.
pub(crate) enum Transport {
    /// The receiver knows the sender's address only after the first datagram.
    Udp(UdpSocket, Option<SocketAddr>),
    Tcp(TcpStream),
}

/// Where packets are handed in.
enum Outlet {
    Udp(UdpSocket, Option<SocketAddr>),
    /// The thread that writes to the stream: a stream that takes no more for minutes must not hold
    /// up what is measured.
    Tcp(TcpStream, Sender<Vec<u8>>),
}

impl Transport {
    /// The transport of a socket that is open to another machine.
    pub(crate) fn connected(opened: Opened) -> io::Result<Self> {
        Ok(match opened {
            Opened::Udp(socket) => {
                let peer = socket.peer_addr()?;
                Transport::Udp(socket, Some(peer))
            }
            Opened::Tcp(stream) => Transport::Tcp(stream),
        })
    }
}

/// Opens the sockets of a leg: those of the sending and of the receiving host. `congestion` is the
/// congestion control of TCP.
pub(super) fn open(
    (from, to): (Host, Host),
    carrier: Carrier,
    congestion: &str,
) -> io::Result<[Transport; 2]> {
    Ok(match carrier {
        Carrier::Udp => {
            let receiver = UdpSocket::bind((to.local(), 0))?;
            let peer = SocketAddr::from((to.remote(), receiver.local_addr()?.port()));
            let sender = UdpSocket::bind((from.local(), 0))?;
            [Transport::Udp(sender, Some(peer)), Transport::Udp(receiver, None)]
        }
        Carrier::Tcp => {
            let listener = TcpListener::bind((to.local(), 0))?;
            let peer = SocketAddr::from((to.remote(), listener.local_addr()?.port()));
            let sender = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            choose_congestion(&sender, congestion)?;
            sender.bind(&SocketAddr::from((from.local(), 0)).into())?;
            sender.connect(&peer.into())?;
            [Transport::Tcp(sender.into()), Transport::Tcp(listener.accept()?.0)]
        }
    })
}

#[cfg(target_os = "linux")]
fn choose_congestion(socket: &Socket, name: &str) -> io::Result<()> {
    let chosen = socket.set_tcp_congestion(name.as_bytes());
    chosen.map_err(|error| io::Error::other(format!("congestion control {name}: {error}")))
}

/// Other systems have no emulated network, so this is never called.
#[cfg(not(target_os = "linux"))]
fn choose_congestion(_: &Socket, _: &str) -> io::Result<()> {
    Ok(())
}

/// A socket whose arrivals are reported until it is dropped.
pub(crate) struct Wire {
    outlet: Outlet,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Wire {
    /// Starts to read for the end of that number.
    pub(crate) fn start(
        transport: Transport,
        at: usize,
        arrivals: Sender<Arrival>,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = || thread::Builder::new().name(format!("end {at}"));
        let report = move |from, packet| arrivals.send(Arrival { at, from, packet }).is_ok();
        let (outlet, threads) = match transport {
            Transport::Udp(socket, peer) => {
                let (reading, stop) = (socket.try_clone()?, Arc::clone(&stop));
                socket.set_read_timeout(Some(LOOK_UP))?;
                let reader = thread().spawn(move || read_datagrams(&reading, &stop, report))?;
                (Outlet::Udp(socket, peer), vec![reader])
            }
            Transport::Tcp(stream) => {
                stream.set_nodelay(true)?;
                let (reading, writing) = (stream.try_clone()?, stream.try_clone()?);
                let from = stream.peer_addr()?;
                let reader =
                    thread().spawn(move || read_frames(reading, |packet| report(from, packet)))?;
                let (queue, frames) = channel();
                let writer = thread().spawn(move || write_frames(writing, &frames))?;
                (Outlet::Tcp(stream, queue), vec![reader, writer])
            }
        };
        Ok(Wire { outlet, stop, threads })
    }

    /// Records the address to which answers are sent.
    pub(super) fn came_from(&mut self, from: SocketAddr) {
        if let Outlet::Udp(_, peer) = &mut self.outlet {
            *peer = Some(from);
        }
    }

    /// Sends a packet; if the other end is not known yet, or the connection is broken, it is lost.
    pub(crate) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match &mut self.outlet {
            Outlet::Udp(socket, Some(peer)) => send_to(socket, packet, *peer),
            Outlet::Udp(_, None) => Ok(()),
            Outlet::Tcp(_, queue) => {
                let len = u16::try_from(packet.len());
                let len = len.map_err(|_| io::Error::other("a packet of over 65,535 bytes"))?;
                // Length and packet are one write; otherwise the length would be a segment of its
                // own. The writer is gone once the connection is broken.
                let _ = queue.send([&len.to_be_bytes(), packet].concat());
                Ok(())
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Outlet::Tcp(stream, queue) = &mut self.outlet {
            // Shutting down only fails if the connection has ended already.
            let _ = stream.shutdown(Shutdown::Both);
            // The writer ends with the last sender of its queue.
            *queue = channel().0;
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Sends a datagram. A socket that is open to another machine may have no address beside.
fn send_to(socket: &UdpSocket, packet: &[u8], peer: SocketAddr) -> io::Result<()> {
    let sent = match socket.peer_addr() {
        Ok(_) => socket.send(packet),
        Err(_) => socket.send_to(packet, peer),
    };
    match sent {
        // An earlier datagram found nobody at the other end: it is lost, as any other.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        sent => sent.map(|_| ()),
    }
}

fn read_datagrams(
    socket: &UdpSocket,
    stop: &AtomicBool,
    report: impl Fn(SocketAddr, Vec<u8>) -> bool,
) {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        // An error is the timeout, or a refusal that an earlier datagram met: neither ends
        // anything.
        if let Ok((len, from)) = socket.recv_from(&mut buffer)
            && !report(from, buffer[..len].to_vec())
        {
            return;
        }
    }
}

/// Writes until the connection breaks or nothing more will be sent.
fn write_frames(mut stream: TcpStream, frames: &Receiver<Vec<u8>>) {
    while let Ok(frame) = frames.recv()
        && stream.write_all(&frame).is_ok()
    {}
}

fn read_frames(stream: TcpStream, report: impl Fn(Vec<u8>) -> bool) {
    let mut stream = BufReader::new(stream);
    let mut len = [0; 2];
    while stream.read_exact(&mut len).is_ok() {
        let mut packet = vec![0; usize::from(u16::from_be_bytes(len))];
        if stream.read_exact(&mut packet).is_err() || !report(packet) {
            return;
        }
    }
}
