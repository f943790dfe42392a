//! The paper's two networks (section 5.1), emulated, with the kernel's own TCP.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::processor::hurry;
use crate::emulator::{Cable, Emulator, EmulatorError, Host, Namespace, Path};
use crate::sim::{Capacity, LinkConfig, Queue};

/// The rate of the fast network, which is a campus' Ethernet, in Mbit/s.
pub(in crate::streams) const FAST: f64 = 71.0;
/// The rate of the slow network, which crosses a continent, in Mbit/s.
pub(in crate::streams) const SLOW: f64 = 1.7;
/// The round trip of the slow network.
pub(in crate::streams) const ROUND_TRIP: Duration = Duration::from_millis(70);
/// The longest wait in the queue of the router before the slow network.
const QUEUE: Duration = Duration::from_millis(300);

/// The other traffic on the network, as the rate that it leaves. Datagrams of a steady rate, sent
/// beside the stream, are no such traffic: they share the queue, in which the bursts of a program
/// whose processor is busy push them out. Without compression such a program got 16 Mbit/s beside
/// datagrams that left an idle one 3.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Busy {
    Idle,
    /// The other traffic leaves 20 Mbit/s.
    Medium,
    /// The other traffic leaves 3 Mbit/s.
    Heavy,
}

/// A network that connects a server with a client.
pub(super) enum Network {
    Fast(Cable),
    Slow(Emulator),
}

impl Busy {
    /// The rate that is left, in Mbit/s.
    pub(super) fn left(self) -> f64 {
        match self {
            Busy::Idle => FAST,
            Busy::Medium => 20.0,
            Busy::Heavy => 3.0,
        }
    }
}

impl Network {
    /// The fast one, with traffic on it.
    ///
    /// # Errors
    /// Where it cannot be set up.
    pub(super) fn fast(namespace: &Namespace, busy: Busy) -> Result<Network, EmulatorError> {
        let network = Network::Fast(Cable::start(namespace, FAST, false)?);
        network.change(busy)?;
        Ok(network)
    }

    /// Changes the other traffic on the fast network. The slow one never has any.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(super) fn change(&self, busy: Busy) -> Result<(), EmulatorError> {
        match self {
            Network::Fast(cable) => cable.change(busy.left()),
            Network::Slow(_) => Ok(()),
        }
    }

    /// The slow one.
    ///
    /// # Errors
    /// Where it cannot be set up.
    pub(super) fn slow(namespace: &Namespace) -> Result<Network, EmulatorError> {
        let link = LinkConfig {
            capacity: Capacity::kbit(SLOW * 1e3),
            queue: Queue::Time(QUEUE),
            ..LinkConfig::default()
        };
        let path = Path::symmetric(link, ROUND_TRIP, 1);
        // The emulator's threads inherit their priority from the thread that starts them.
        let start = || {
            // Without the right to raise the priority, the emulator runs with the usual one.
            let _ = hurry();
            Emulator::start(namespace, &[path])
        };
        let started = thread::scope(|scope| scope.spawn(start).join());
        let panicked = |_| Err(io::Error::other("what starts the network panicked").into());
        Ok(Network::Slow(started.unwrap_or_else(panicked)?))
    }

    /// A TCP connection: the server's end and the client's.
    ///
    /// # Errors
    /// A call to the operating system fails.
    pub(super) fn connect(&self) -> io::Result<[TcpStream; 2]> {
        match self {
            Network::Fast(cable) => cable.connect(),
            Network::Slow(emulator) => {
                let listener = TcpListener::bind((Host::SERVER.local(), 0))?;
                let port = listener.local_addr()?.port();
                let client = Socket::new(Domain::IPV4, Type::STREAM, None)?;
                client.bind(&SocketAddr::from((emulator.client(0).local(), 0)).into())?;
                client.connect(&SocketAddr::from((Host::SERVER.remote(), port)).into())?;
                Ok([listener.accept()?.0, client.into()])
            }
        }
    }
}
