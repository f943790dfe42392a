//! The paths on which participants find the server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::MEMBERS;
use super::network::{Network, Weather};
use crate::Result;
use crate::emulator::proxy::{TcpProxy, UdpProxy};
use crate::emulator::{Emulator, Host, Namespace, Path, PathStats};
use crate::sim::Loss;

/// The payload bytes of a datagram whose round trip is measured: 64 bytes with headers.
const PING: usize = 36;
/// The number of round trips that are measured; the fastest one counts.
const PINGS: usize = 2;
/// The number of attempts, because datagrams may be lost, and the time limit of each.
const TRIES: usize = 8;
const PATIENCE: Duration = Duration::from_millis(500);

/// The emulator of all paths.
#[derive(Debug)]
pub(super) enum Ground {
    /// A TUN device in a network namespace carries the packets.
    Emulated(Emulator),
    /// Proxies carry the packets, where namespaces are not permitted.
    Proxied,
    /// The servers are on another machine, at this address.
    Far(Ipv4Addr),
}

/// The paths of a cell's members to the servers at these ports.
#[derive(Debug)]
pub(super) struct MemberPaths<'a> {
    ground: &'a Ground,
    network: Network,
    /// The number of the first client of this cell.
    first: usize,
    /// The port of a server, over TCP.
    port: u16,
    _proxies: Vec<(TcpProxy, UdpProxy)>,
}

impl Ground {
    /// Sets up paths for `cells` cells that run at the same time.
    pub(super) fn new(namespace: Option<&Namespace>, cells: usize) -> Result<Self> {
        let Some(namespace) = namespace else { return Ok(Ground::Proxied) };
        let paths = vec![Path::default(); cells * MEMBERS];
        Ok(Ground::Emulated(Emulator::start(namespace, &paths)?))
    }

    /// The address at which servers listen.
    pub(super) fn listen(&self) -> Ipv4Addr {
        match self {
            // No other program is in the namespace.
            Ground::Emulated(_) => Ipv4Addr::UNSPECIFIED,
            Ground::Proxied | Ground::Far(_) => Ipv4Addr::LOCALHOST,
        }
    }

    /// Sets up the paths of the n-th cell. Proxies cannot emulate loss for TCP, so they do not suit
    /// TCP transports on a lossy network. With WebTransport, TCP only carries the request for its
    /// port.
    pub(super) fn paths(
        &self,
        cell: usize,
        (network, weather): (Network, &Weather),
        (seed, is_datagrams): (u64, bool),
        ports: &[u16],
    ) -> Result<MemberPaths<'_>> {
        let first = cell * MEMBERS;
        let mut proxies = Vec::new();
        for member in 0..MEMBERS {
            let path = weather.path(network, seed.wrapping_mul(1000).wrapping_add(member as u64));
            match self {
                Ground::Emulated(emulator) => emulator.change(first + member, &path),
                Ground::Far(_) => {}
                Ground::Proxied => {
                    for port in ports {
                        let listen = SocketAddr::from((stand_in(first + member), *port));
                        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
                        let mut streams = path.clone();
                        if is_datagrams {
                            streams.up.loss = Loss::NONE;
                            streams.down.loss = Loss::NONE;
                        }
                        let tcp = TcpProxy::start_at(listen, server, streams)?;
                        proxies.push((tcp, UdpProxy::start_at(listen, server, path.clone())?));
                    }
                }
            }
        }
        let port = ports[0];
        Ok(MemberPaths { ground: self, network, first, port, _proxies: proxies })
    }
}

impl MemberPaths<'_> {
    /// The kind of emulation, for the field `emulator` of rows.
    pub(super) fn emulator(&self) -> &'static str {
        match self.ground {
            _ if self.network == Network::Loopback => "none",
            Ground::Emulated(_) => "tun",
            Ground::Proxied => "proxy",
            Ground::Far(_) => "none",
        }
    }

    /// The address at which a member reaches the server.
    pub(super) fn address(&self, member: usize) -> Ipv4Addr {
        match self.ground {
            Ground::Emulated(emulator) if self.network != Network::Loopback => {
                emulator.client(self.first + member).server()
            }
            Ground::Far(address) => *address,
            // Each member has an address of its own, because browsers limit the connections to one
            // address.
            _ => stand_in(self.first + member),
        }
    }

    /// The traffic of a member's path; none if it is not counted.
    pub(super) fn stats(&self, member: usize) -> Option<PathStats> {
        match self.ground {
            Ground::Emulated(emulator) if self.network != Network::Loopback => {
                Some(emulator.stats(self.first + member))
            }
            _ => None,
        }
    }

    /// The measured round trip of a small datagram over a member's path, in ms; that of opening a
    /// TCP connection to another machine; the theoretical one without emulation.
    pub(super) fn ping(&self, member: usize) -> Result<f64> {
        if let Ground::Far(address) = self.ground {
            let server = SocketAddr::from((*address, self.port));
            let times = (0..TRIES).map(|_| connecting(server)).collect::<io::Result<Vec<_>>>()?;
            return Ok(times.into_iter().fold(f64::INFINITY, f64::min));
        }
        let theory = self.network.round_trip().as_secs_f64() * 1e3;
        let Ground::Emulated(emulator) = self.ground else { return Ok(theory) };
        if self.network == Network::Loopback {
            return Ok(theory);
        }
        let server = UdpSocket::bind((Host::SERVER.local(), 0))?;
        let client = UdpSocket::bind((emulator.client(self.first + member).local(), 0))?;
        client.connect((Host::SERVER.remote(), server.local_addr()?.port()))?;
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(PATIENCE))?;
        }
        let times = (0..TRIES).filter_map(|_| round_trip(&client, &server)).take(PINGS);
        Ok(times
            .fold(None, |least: Option<f64>, time| Some(least.map_or(time, |one| one.min(time))))
            .unwrap_or(theory))
    }
}

fn round_trip(client: &UdpSocket, server: &UdpSocket) -> Option<f64> {
    let start = Instant::now();
    client.send(&[0; PING]).ok()?;
    let (len, from) = server.recv_from(&mut [0; PING]).ok()?;
    server.send_to(&[0; PING][..len], from).ok()?;
    client.recv(&mut [0; PING]).ok()?;
    Some(start.elapsed().as_secs_f64() * 1e3)
}

/// The time in ms in which a connection opens: a round trip.
fn connecting(server: SocketAddr) -> io::Result<f64> {
    let start = Instant::now();
    TcpStream::connect_timeout(&server, PATIENCE * TRIES as u32)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The loopback address of a client.
fn stand_in(client: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 1 + client as u8)
}
