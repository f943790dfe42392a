//! A proxy for TCP: bytes pass the links, complete and in order.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Clients, LOOK_UP};
use crate::emulator::courier::Courier;
use crate::emulator::links::Links;
use crate::emulator::{EmulatorError, Path};
use crate::sim::link::IP_HEADER;
use crate::sim::{Link, LinkConfig, Loss, Queue};

/// The payload of a segment on Ethernet, without headers of 20 bytes for IP and 32 for TCP with
/// timestamps.
const SEGMENT: usize = 1448;
const TCP_HEADER: usize = 32;

/// The pause before a proxy tries again to send bytes for which its path had no room.
const AGAIN: Duration = Duration::from_millis(1);

/// Stands in for a TCP server at the other end of a path, until this is dropped.
#[derive(Debug)]
pub(crate) struct TcpProxy {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TcpProxy {
    /// Stands in for a server at an address. Connections are set up without delay.
    ///
    /// # Errors
    /// If the path does to packets what a proxy cannot do to a stream
    /// ([`EmulatorError::NotForStreams`]), the address is taken or not ours, or the system gives no
    /// socket or thread.
    pub(crate) fn start_at(
        listen: SocketAddr,
        server: SocketAddr,
        mut path: Path,
    ) -> Result<Self, EmulatorError> {
        for link in [&mut path.up, &mut path.down] {
            if !is_for_streams(link) {
                return Err(EmulatorError::NotForStreams);
            }
            // Bytes for which a queue has no room wait at the sender, as with TCP.
            link.queue = Queue::Unlimited;
        }
        let listener = TcpListener::bind(listen)?;
        let address = listener.local_addr()?;
        let (clients, stop) = (Clients::default(), Arc::new(AtomicBool::new(false)));
        let welcomer = Welcomer { server, path, clients, stop: Arc::clone(&stop) };
        let thread = thread::Builder::new().name("tcp proxy".into());
        let thread = thread.spawn(move || welcomer.run(&listener))?;
        Ok(TcpProxy { address, stop, thread: Some(thread) })
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Without this connection the thread would wait for the next client.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn is_for_streams(link: &LinkConfig) -> bool {
    link.loss == Loss::NONE && link.reorder + link.duplicate + link.corrupt == 0.0
}

struct Welcomer {
    server: SocketAddr,
    path: Path,
    clients: Clients,
    stop: Arc<AtomicBool>,
}

impl Welcomer {
    fn run(&self, listener: &TcpListener) {
        let mut connections = Vec::new();
        // An error is a client that has gone already, or too many open files.
        for client in listener.incoming() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            match client {
                // A client that cannot be served finds its connection closed.
                Ok(client) => connections.extend(self.welcome(client)),
                Err(_) => thread::sleep(AGAIN),
            }
        }
        for connection in connections {
            for stream in connection.streams {
                // Shutting down only fails if the connection has ended already.
                let _ = stream.shutdown(Shutdown::Both);
            }
            for thread in connection.threads {
                let _ = thread.join();
            }
        }
    }

    /// Connects a client with the server, a thread for each direction.
    fn welcome(&self, client: TcpStream) -> io::Result<Connection> {
        let number = self.clients.add(&self.path, IP_HEADER + TCP_HEADER)?;
        let server = TcpStream::connect(self.server)?;
        let mut threads = Vec::new();
        let up: fn(&mut Links) -> &mut Link = |links| &mut links.up.link;
        let down: fn(&mut Links) -> &mut Link = |links| &mut links.down.link;
        for (from, to, direction) in [(&client, &server, up), (&server, &client, down)] {
            from.set_nodelay(true)?;
            let (from, to, clients) = (from.try_clone()?, to.try_clone()?, self.clients.clone());
            let stop = Arc::clone(&self.stop);
            let send = move |now, len| {
                clients.with(|all| direction(&mut all[number]).send(now, len).first)
            };
            let thread = thread::Builder::new().name(format!("tcp proxy {number}"));
            threads.push(thread.spawn(move || {
                // A broken connection ends here, and both sides see it closed.
                let _ = pump(from, to, send, &stop);
            })?);
        }
        Ok(Connection { streams: [client, server], threads })
    }
}

struct Connection {
    streams: [TcpStream; 2],
    threads: Vec<JoinHandle<()>>,
}

/// Carries bytes until their source ends, and then shuts down the other side.
fn pump(
    mut from: TcpStream,
    mut to: TcpStream,
    send: impl Fn(Duration, usize) -> Option<Duration>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let start = Instant::now();
    let (done, is_done) = channel();
    let broken = Arc::new(AtomicBool::new(false));
    let breaks = Arc::clone(&broken);
    let courier = Courier::start(move |bytes: Arc<[u8]>| {
        let is_end = bytes.is_empty();
        let written = if is_end { to.shutdown(Shutdown::Write) } else { to.write_all(&bytes) };
        breaks.fetch_or(written.is_err(), Ordering::Relaxed);
        if is_end {
            let _ = done.send(());
        }
    })?;
    let mut buffer = [0; SEGMENT];
    let mut last = start;
    loop {
        let len = from.read(&mut buffer).unwrap_or(0);
        if len > 0 {
            last = send(start.elapsed(), len).map_or(last, |arrival| start + arrival);
        } else {
            last = last.max(Instant::now());
        }
        let bytes: Arc<[u8]> = buffer[..len].into();
        while !courier.send(last, Arc::clone(&bytes)) {
            if stop.load(Ordering::Relaxed) || broken.load(Ordering::Relaxed) {
                return from.shutdown(Shutdown::Both);
            }
            thread::sleep(AGAIN);
        }
        if broken.load(Ordering::Relaxed) {
            return from.shutdown(Shutdown::Both);
        }
        if len == 0 {
            break;
        }
    }
    // The courier has to live until it has delivered the end, unless the proxy ends first.
    while is_done.recv_timeout(LOOK_UP).is_err() && !stop.load(Ordering::Relaxed) {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    /// A free port of loopback.
    const FREE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    use crate::sim::Capacity;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn streams_arrive_whole_and_late_at_the_rate() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let link = LinkConfig { capacity: Capacity::kbit(4000.0), ..LinkConfig::default() };
        let path = Path::symmetric(link, 40 * MS, 1);
        let proxy = TcpProxy::start_at(FREE, server.local_addr().unwrap(), path).unwrap();
        let echo = thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            io::copy(&mut stream.try_clone().unwrap(), &mut stream).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        });
        let start = Instant::now();
        let mut client = TcpStream::connect(proxy.address).unwrap();
        let mut first = [0; 1];
        client.write_all(&[9]).unwrap();
        client.read_exact(&mut first).unwrap();
        assert!((40 * MS..200 * MS).contains(&start.elapsed()), "{:?}", start.elapsed());

        let sent: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        let mut writer = client.try_clone().unwrap();
        let (bytes, start) = (sent.clone(), Instant::now());
        let writer = thread::spawn(move || {
            writer.write_all(&bytes).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = Vec::new();
        client.read_to_end(&mut received).unwrap();
        assert!(received == sent, "{} of {} bytes", received.len(), sent.len());
        // 200 KB are 0.4 s at that rate, a little more with headers.
        assert!((400 * MS..1500 * MS).contains(&start.elapsed()), "{:?}", start.elapsed());
        writer.join().unwrap();
        echo.join().unwrap();
    }

    #[test]
    fn a_stream_cannot_lose_packets() {
        let lossy = LinkConfig { loss: "rand5".parse().unwrap(), ..LinkConfig::default() };
        let path = Path { up: lossy, ..Path::default() };
        let refused = TcpProxy::start_at(FREE, ([127, 0, 0, 1], 9).into(), path);
        assert!(matches!(refused, Err(EmulatorError::NotForStreams)));
    }
}
