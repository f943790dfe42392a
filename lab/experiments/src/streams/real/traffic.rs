//! What else goes over a network: datagrams at a steady rate, which leave a stream the rest.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::processor::hurry;

/// Octets of a datagram: a full packet.
const DATAGRAM: usize = 1472;
/// What else there is of it on an Ethernet.
const HEADERS: usize = 8 + 20 + 38;
/// How often it looks whether more are due.
const PAUSE: Duration = Duration::from_millis(1);

/// Traffic, until it is dropped.
#[derive(Debug)]
pub(super) struct Traffic {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Traffic {
    /// Sends so many Mbit/s, counted as on the cable, to the other end of the first socket. Nobody has to read there.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn start([from, to]: [UdpSocket; 2], mbit: f64) -> io::Result<Traffic> {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        from.set_nonblocking(true)?;
        let thread = thread::Builder::new().name("traffic".into()).spawn(move || {
            // Without the right to, it goes as well as it can.
            let _ = hurry();
            let (start, datagram, mut sent) = (Instant::now(), [0; DATAGRAM], 0.0);
            while !is_over.load(Ordering::Relaxed) {
                let due = start.elapsed().as_secs_f64() * mbit * 1e6 / 8.0;
                while sent < due {
                    // What does not go because a queue is full is lost, as everywhere.
                    let _ = from.send(&datagram);
                    sent += (DATAGRAM + HEADERS) as f64;
                }
                thread::sleep(PAUSE);
            }
            drop(to);
        })?;
        Ok(Traffic { stop, thread: Some(thread) })
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
