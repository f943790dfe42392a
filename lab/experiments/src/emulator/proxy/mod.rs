//! Where the machine permits no namespace: proxies on loopback with the links of a [`Path`], a pair
//! for each client.
//!
//! [`UdpProxy`] treats datagrams as the [`Emulator`](super::Emulator) does. [`TcpProxy`] cannot:
//! TCP ends at the proxy on either side, which sees bytes and not packets, so there is nothing that
//! could be lost, and no congestion control that would notice. It delays and holds the rate, and
//! refuses paths that lose, reorder, repeat or damage. So the kernel's TCP under loss is measured
//! with the emulator or not at all.

mod tcp;
mod udp;

pub(crate) use tcp::TcpProxy;
pub(crate) use udp::UdpProxy;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Path;
use super::links::Links;

/// The most clients of a proxy; further ones get no answer.
const MOST_CLIENTS: usize = 64;

/// The interval at which a waiting thread checks whether it is to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The links of each client, by its number.
#[derive(Debug, Clone, Default)]
struct Clients(Arc<Mutex<Vec<Links>>>);

impl Clients {
    /// Adds a client and returns its number; an error if there are too many.
    fn add(&self, path: &Path, header: usize) -> io::Result<usize> {
        self.with(|all| {
            if all.len() >= MOST_CLIENTS {
                return Err(io::Error::other("too many clients"));
            }
            all.push(Links::new(path, header));
            Ok(all.len() - 1)
        })
    }

    fn with<R>(&self, then: impl FnOnce(&mut Vec<Links>) -> R) -> R {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
