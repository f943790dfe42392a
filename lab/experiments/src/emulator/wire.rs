//! An Ethernet between two hosts of this namespace, precise to the microsecond.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};
use tun_rs::{InterruptEvent, SyncDevice};

use super::device::{MTU, open};
use super::ethernet::Cables;
use super::network::{Route, readdress};
use super::{Carried, EmulatorError, Ethernet, Host, Namespace};

/// The longest delay with which the kernel wakes a thread. The thread spins for this part of a
/// wait.
const SPUN: Duration = Duration::from_micros(200);
/// A wire that was idle for this time sleeps until a packet comes.
const IDLE: Duration = Duration::from_millis(2);
/// The most packets under way in one direction. Further ones are dropped.
const MOST: usize = 1024;

/// A wire that is up until it is dropped. A thread of its own watches it without sleep while
/// anything is under way, so it wants a core to itself.
///
/// Unlike a token bucket, it holds up even a single packet for as long as its bits take.
pub(crate) struct Wire {
    shared: Arc<WireState>,
    stop: Arc<InterruptEvent>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct WireState {
    state: Mutex<(Ethernet, Carried)>,
    is_over: AtomicBool,
}

impl Wire {
    /// Sets up a wire between [`Host::SERVER`] and one client.
    ///
    /// # Errors
    /// Where no TUN device is permitted or `ip` is not installed; if there is another in this
    /// namespace.
    pub(crate) fn start(_namespace: &Namespace, ethernet: Ethernet) -> Result<Self, EmulatorError> {
        let device = open(1)?;
        device.set_nonblocking(true)?;
        let shared = Arc::new(WireState::default());
        shared.lock().0 = ethernet;
        let stop = Arc::new(InterruptEvent::new()?);
        let forwarder = Forwarder {
            device,
            shared: Arc::clone(&shared),
            stop: Arc::clone(&stop),
            directions: Default::default(),
        };
        let thread = thread::Builder::new().name("wire".into());
        let thread = thread.spawn(move || forwarder.run())?;
        Ok(Wire { shared, stop, thread: Some(thread) })
    }

    /// Makes it another Ethernet for all later packets.
    pub(crate) fn change(&self, ethernet: Ethernet) {
        self.shared.lock().0 = ethernet;
    }

    /// The packets that both directions have carried so far.
    pub(crate) fn carried(&self) -> Carried {
        self.shared.lock().1
    }

    /// A TCP connection over it, without Nagle's algorithm: the client's end and the server's.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(crate) fn connect(&self) -> io::Result<[TcpStream; 2]> {
        let client = Host::client(0).ok_or(io::ErrorKind::NotFound)?;
        let listener = TcpListener::bind((Host::SERVER.local(), 0))?;
        let server = SocketAddr::from((Host::SERVER.remote(), listener.local_addr()?.port()));
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((client.local(), 0)).into())?;
        socket.connect(&server.into())?;
        let ends = [socket.into(), listener.accept()?.0];
        for end in &ends {
            end.set_nodelay(true)?;
        }
        Ok(ends)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Triggering only fails if the thread has ended by itself.
        let _ = self.stop.trigger();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("carried", &self.carried()).finish_non_exhaustive()
    }
}

impl WireState {
    fn lock(&self) -> MutexGuard<'_, (Ethernet, Carried)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Holds packets until they are due.
struct Forwarder {
    device: Arc<SyncDevice>,
    shared: Arc<WireState>,
    stop: Arc<InterruptEvent>,
    /// The packets of both directions: up and down.
    directions: [Direction; 2],
}

#[derive(Default)]
struct Direction {
    cables: Cables,
    /// The packets, in the order in which they are due.
    waiting: VecDeque<(Instant, Vec<u8>)>,
}

impl Forwarder {
    fn run(mut self) {
        let mut buffer = [0; MTU];
        let mut last = Instant::now();
        while !self.shared.is_over.load(Ordering::Relaxed) {
            let due = self.deliver();
            match self.device.recv(&mut buffer) {
                Ok(len) => {
                    last = Instant::now();
                    self.accept(last, &mut buffer[..len]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.pause(due, last),
                // The device is gone.
                Err(_) => return,
            }
        }
    }

    /// Delivers the packets that are due, and returns when the next one is.
    fn deliver(&mut self) -> Option<Instant> {
        for Direction { waiting, .. } in &mut self.directions {
            while let Some((due, packet)) = waiting.front()
                && *due <= Instant::now()
            {
                // Packets that the kernel refuses are lost, as with a network card.
                let _ = self.device.send(packet);
                waiting.pop_front();
            }
        }
        self.directions.iter().filter_map(|one| one.waiting.front()).map(|(due, _)| *due).min()
    }

    fn accept(&mut self, now: Instant, packet: &mut [u8]) {
        let direction = match readdress(packet, 1) {
            Some(Route::Up(_)) => &mut self.directions[0],
            Some(Route::Down(_)) => &mut self.directions[1],
            None => return,
        };
        if direction.waiting.len() < MOST {
            let mut state = self.shared.lock();
            let (ethernet, carried) = &mut *state;
            carried.add(ethernet, packet.len());
            let due = direction.cables.carry(ethernet, now, packet.len());
            direction.waiting.push_back((due, packet.to_vec()));
        }
    }

    /// Lets other threads have the core, if there is time.
    fn pause(&self, due: Option<Instant>, last: Instant) {
        match due {
            Some(due) => {
                let left = due.saturating_duration_since(Instant::now());
                if left > SPUN {
                    thread::sleep(left - SPUN);
                }
            }
            None if last.elapsed() > IDLE => {
                // The wait ends when a packet comes, or when the thread is told to stop.
                let _ = self.device.wait_readable_intr(&self.stop);
            }
            None => std::hint::spin_loop(),
        }
    }
}
