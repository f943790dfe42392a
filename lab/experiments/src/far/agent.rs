//! The agent: does what near machines ask for, a thread for each.

use std::io::{self, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq;
use tokio::runtime::Runtime;

use super::protocol::{
    Answer, Hash, MAX_BYTES_PER_SECOND, MAX_PACKETS_PER_SECOND, MAX_STREAM, PATIENCE, Relay,
    Request, Serve, TICKET, Task, is_timeout, read, write,
};
use super::sockets::Waiting;
use super::{CONNECTIONS, Options};
use crate::Result;
use crate::browsers::{Listen, Servers};
use crate::deadlines::far::{self as afec, Budget};

/// An agent that serves until the process ends.
#[derive(Debug)]
pub(super) struct Agent {
    /// The loopback addresses to which the tunnel's routes lead.
    pub(super) control: SocketAddr,
    pub(super) sink: SocketAddr,
}

struct Shared {
    token: Vec<u8>,
    /// The address and the ports of sockets for measured packets.
    address: IpAddr,
    data: Option<u16>,
    longest: Duration,
    /// The program of the servers of the experiment `web`, if they may run here.
    program: Option<PathBuf>,
}

impl Agent {
    pub(super) fn start(options: &Options, token: &[u8]) -> Result<Self> {
        let shared = Arc::new(Shared {
            program: options.web.then(|| options.program.path()).transpose()?,
            token: token.to_vec(),
            address: options.listen.ip(),
            data: options.data,
            longest: Duration::from_secs(options.longest),
        });
        Ok(Agent {
            control: serve(&shared, Shared::perform)?,
            sink: serve(&shared, Shared::swallow)?,
        })
    }
}

/// Serves each connection to a loopback address by a thread. The tunnel limits how many there are.
fn serve(
    shared: &Arc<Shared>,
    handle: fn(&Shared, &TcpStream) -> io::Result<()>,
) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let shared = Arc::clone(shared);
    thread::Builder::new().name("agent".into()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            // Without a thread the connection is closed, and the near machine says so.
            let _ = thread::Builder::new().name("request".into()).spawn(move || {
                if let Err(error) = handle(&shared, &stream) {
                    let why = error.to_string();
                    eprintln!("a request has ended: {why}");
                    // Writing fails if the near machine has gone.
                    let _ = write(&mut &stream, &Answer::Refused { why });
                }
            });
        }
    })?;
    Ok(address)
}

impl Shared {
    /// The first line of a near machine that shows the token and is of the same version.
    fn request<T: DeserializeOwned>(&self, from: &mut BufReader<&TcpStream>) -> io::Result<T> {
        from.get_ref().set_read_timeout(Some(PATIENCE))?;
        let Request { token, version, what } = read(from)?;
        if !bool::from(token.as_bytes().ct_eq(&self.token)) {
            return Err(io::Error::other("the token is not the one it was started with"));
        }
        match version == env!("CARGO_PKG_VERSION") {
            true => Ok(what),
            false => Err(io::Error::other(format!(
                "it has version {} and the near machine {version}: install the same on both",
                env!("CARGO_PKG_VERSION")
            ))),
        }
    }

    /// Performs a task until the near machine hangs up.
    fn perform(&self, stream: &TcpStream) -> io::Result<()> {
        match self.request(&mut BufReader::new(stream))? {
            Task::Relay(relay) => self.relay(stream, &relay),
            Task::Serve(Serve { origins }) => self.serve_web(stream, &origins),
        }
    }

    /// The ports of sockets for measured packets; `None` stands for any.
    fn ports(&self) -> Option<RangeInclusive<u16>> {
        self.data.map(|first| first..=first + CONNECTIONS as u16 - 1)
    }

    /// Runs the servers of the experiment `web`.
    fn serve_web(&self, stream: &TcpStream, origins: &[String]) -> io::Result<()> {
        let Some(program) = &self.program else {
            return Err(io::Error::other("it runs no servers; start it with --web"));
        };
        let IpAddr::V4(address) = self.address else {
            return Err(io::Error::other("servers need an IPv4 address in --listen"));
        };
        let runtime = Runtime::new()?;
        let listen = Listen { address, ports: self.ports() };
        let servers = Servers::start(program, &listen, origins, runtime.handle());
        let servers = servers.map_err(|error| io::Error::other(error.to_string()))?;
        write(&mut &*stream, &Answer::Serving { ports: servers.ports.clone() })?;
        wait_for_end(stream, self.longest)
    }

    /// Sends the messages of a telepointer back.
    fn relay(&self, stream: &TcpStream, relay: &Relay) -> io::Result<()> {
        let end = afec::End::of(relay).map_err(io::Error::other)?;
        let ports = self.ports().unwrap_or(0..=0);
        let waiting = Waiting::open(end.is_tcp(), self.address, ports)?;
        let mut ticket = [0; TICKET];
        getrandom::fill(&mut ticket).map_err(io::Error::other)?;
        let digits = ticket.iter().map(|byte| format!("{byte:02x}")).collect();
        write(&mut &*stream, &Answer::Open { port: waiting.port()?, ticket: digits })?;
        let opened = waiting.accept(&ticket)?;
        write(&mut &*stream, &Answer::Ready)?;

        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let (hang_up, longest) = (stream.try_clone()?, self.longest);
        thread::Builder::new().name("hang-up".into()).spawn(move || {
            // An error ends the measurement, too.
            let _ = wait_for_end(&hang_up, longest);
            told.store(true, Ordering::Relaxed);
        })?;
        let budget = Budget::new(MAX_PACKETS_PER_SECOND);
        end.send_back(opened, budget, || is_over.load(Ordering::Relaxed))
    }

    /// Reads a stream to its end, and says what has come.
    fn swallow(&self, stream: &TcpStream) -> io::Result<()> {
        let mut from = BufReader::with_capacity(64 << 10, stream);
        let () = self.request(&mut from)?;
        let (start, mut hash, mut bytes) = (Instant::now(), Hash::default(), 0_u64);
        let mut piece = vec![0; 64 << 10];
        loop {
            let count = from.read(&mut piece)?;
            if count == 0 {
                return write(&mut &*stream, &Answer::Came { bytes, hash: hash.0 });
            }
            hash.add(&piece[..count]);
            bytes += count as u64;
            if bytes > MAX_STREAM || start.elapsed() > self.longest {
                return Err(io::Error::other("the stream is too long"));
            }
            let due = Duration::from_secs_f64(bytes as f64 / MAX_BYTES_PER_SECOND as f64);
            thread::sleep(due.saturating_sub(start.elapsed()));
        }
    }
}

/// Waits for what ends a measurement: the end of the connection, a byte, or the time limit.
fn wait_for_end(mut stream: &TcpStream, longest: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(longest))?;
    match stream.read(&mut [0]) {
        Err(error) if !is_timeout(&error) => Err(error),
        _ => Ok(()),
    }
}
