//! Where the machine permits no namespace: proxies on loopback with the links of a [`Path`], a pair for
//! each client.
//!
//! [`UdpProxy`] treats datagrams as the [`Emulator`](super::Emulator) does. [`TcpProxy`] cannot: TCP ends at the proxy
//! on either side, which sees bytes and not packets, so there is nothing that could be lost, and no congestion control
//! that would notice. It delays and holds the rate, and refuses paths that lose, reorder, repeat or damage. So the
//! kernel's TCP under loss is measured with the emulator or not at all.

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

/// How often a thread that waits looks whether it is to end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// The links of each client that has come, by its number.
#[derive(Debug, Clone, Default)]
struct Clients(Arc<Mutex<Vec<Links>>>);

impl Clients {
    /// The number of one more client; an error if there is no room.
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
