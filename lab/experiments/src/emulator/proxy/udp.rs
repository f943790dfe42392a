//! A proxy for UDP: each datagram passes the links.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::{Clients, LOOK_UP};
use crate::emulator::Path;
use crate::emulator::courier::Courier;
use crate::emulator::links::{Direction, Links};
use crate::sim::link::UDP_HEADER;

/// Stands in for a UDP server at the other end of a path, until this is dropped.
#[derive(Debug)]
pub(crate) struct UdpProxy {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl UdpProxy {
    /// Stands in for a server at an address. Each address that sends is a client, for which the
    /// server sees an address of its own.
    ///
    /// # Errors
    /// If the address is taken or not ours, or the system gives no thread.
    pub(crate) fn start_at(listen: SocketAddr, server: SocketAddr, path: Path) -> io::Result<Self> {
        let front = socket(listen)?;
        let (clients, stop) = (Clients::default(), Arc::new(AtomicBool::new(false)));
        let courier = Courier::start(|Datagram { by, to, bytes }| {
            // A destination that is gone refuses the datagram, which a network would lose as well.
            let _ = by.send_to(&bytes, to);
        })?;
        let common = Common { server, path, front, clients, courier, stop: Arc::clone(&stop) };
        let thread = thread::Builder::new().name("udp proxy".into());
        let thread = thread.spawn(move || Arc::new(common).run())?;
        Ok(UdpProxy { stop, thread: Some(thread) })
    }
}

impl Drop for UdpProxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state that the threads of a proxy share.
struct Common {
    server: SocketAddr,
    path: Path,
    /// The socket that clients send to.
    front: Arc<UdpSocket>,
    clients: Clients,
    courier: Courier<Datagram>,
    stop: Arc<AtomicBool>,
}

/// The socket of a client towards the server.
struct Back {
    number: usize,
    socket: Arc<UdpSocket>,
    thread: JoinHandle<()>,
}

struct Datagram {
    by: Arc<UdpSocket>,
    to: SocketAddr,
    bytes: Vec<u8>,
}

impl Common {
    /// Carries the datagrams of clients.
    fn run(self: Arc<Self>) {
        let mut backs: BTreeMap<SocketAddr, Back> = BTreeMap::new();
        self.read(&self.front, |client, bytes| {
            if !backs.contains_key(&client)
                && let Ok(back) = self.welcome(client)
            {
                backs.insert(client, back);
            }
            if let Some(back) = backs.get(&client) {
                let up: fn(&mut Links) -> &mut Direction = |links| &mut links.up;
                self.carry(back.number, up, &back.socket, self.server, bytes);
            }
        });
        for back in backs.into_values() {
            let _ = back.thread.join();
        }
    }

    /// Gives a client a socket towards the server, and a thread that carries the answers.
    fn welcome(self: &Arc<Self>, client: SocketAddr) -> io::Result<Back> {
        let number = self.clients.add(&self.path, UDP_HEADER)?;
        let socket = socket((Ipv4Addr::LOCALHOST, 0).into())?;
        let (common, theirs) = (Arc::clone(self), Arc::clone(&socket));
        let thread =
            thread::Builder::new().name(format!("udp proxy {number}")).spawn(move || {
                common.read(&theirs, |from, bytes| {
                    if from == common.server {
                        common.carry(number, |links| &mut links.down, &common.front, client, bytes);
                    }
                });
            })?;
        Ok(Back { number, socket, thread })
    }

    fn read(&self, socket: &UdpSocket, mut handle: impl FnMut(SocketAddr, &mut [u8])) {
        let mut buffer = [0; 65_536];
        while !self.stop.load(Ordering::Relaxed) {
            // An error is the timeout, or a refusal that an earlier datagram met: neither ends
            // anything.
            if let Ok((len, from)) = socket.recv_from(&mut buffer) {
                handle(from, &mut buffer[..len]);
            }
        }
    }

    fn carry(
        &self,
        client: usize,
        direction: fn(&mut Links) -> &mut Direction,
        by: &Arc<UdpSocket>,
        to: SocketAddr,
        bytes: &mut [u8],
    ) {
        self.clients.with(|all| {
            let parcel = |bytes: &[u8]| Datagram { by: Arc::clone(by), to, bytes: bytes.to_vec() };
            let len = bytes.len();
            direction(&mut all[client]).carry((bytes, len), &self.courier, parcel);
        });
    }
}

fn socket(listen: SocketAddr) -> io::Result<Arc<UdpSocket>> {
    let socket = UdpSocket::bind(listen)?;
    socket.set_read_timeout(Some(LOOK_UP))?;
    Ok(Arc::new(socket))
}

#[cfg(test)]
mod tests {

    use std::time::{Duration, Instant};

    use super::*;
    use crate::sim::LinkConfig;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn clients_reach_the_server_and_are_answered_over_paths_of_their_own() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let link = LinkConfig { loss: "rand20".parse().unwrap(), ..LinkConfig::default() };
        let path = Path::symmetric(link, 20 * MS, 1);
        let listen = socket((Ipv4Addr::LOCALHOST, 0).into()).unwrap().local_addr().unwrap();
        let _proxy = UdpProxy::start_at(listen, server.local_addr().unwrap(), path).unwrap();
        let echo = server.try_clone().unwrap();
        echo.set_read_timeout(Some(1000 * MS)).unwrap();
        let echo = thread::spawn(move || {
            while let Ok((1, from)) = echo.recv_from(&mut [0]) {
                echo.send_to(&[7], from).unwrap();
            }
        });
        let clients: Vec<_> =
            (0..2).map(|_| socket((Ipv4Addr::LOCALHOST, 0).into()).unwrap()).collect();
        for client in &clients {
            client.connect(listen).unwrap();
        }
        let mut answered = [0; 2];
        for _ in 0..50 {
            let start = Instant::now();
            clients.iter().for_each(|client| assert_eq!(client.send(&[1]).unwrap(), 1));
            for (client, answered) in clients.iter().zip(&mut answered) {
                if client.recv(&mut [0]).is_ok() {
                    *answered += 1;
                    assert!(start.elapsed() >= 20 * MS);
                }
            }
        }
        // Both proxies have the same seed, so they lose the same datagrams: 0.8^2 of 50 arrive on
        // average.
        assert!(answered[0] == answered[1] && (20..45).contains(&answered[0]), "{answered:?}");
        echo.join().unwrap();
    }
}
