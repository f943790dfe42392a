//! Other traffic on a network: datagrams at a steady rate, which leave a stream the rest.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::processor::hurry;

/// The bytes of a datagram: a full packet.
const DATAGRAM: usize = 1472;
/// Bytes of the headers of a datagram on an Ethernet: UDP, IP, Ethernet.
const HEADERS: usize = 8 + 20 + 38;
/// The interval at which the thread checks whether datagrams are due.
const PAUSE: Duration = Duration::from_millis(1);

/// Traffic that goes on until this is dropped.
#[derive(Debug)]
pub(super) struct Traffic {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Traffic {
    /// Sends `mbit` Mbit/s, counted as on the cable, to the other end of the first socket. No
    /// program has to read there.
    pub(super) fn start([from, to]: [UdpSocket; 2], mbit: f64) -> io::Result<Traffic> {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        from.set_nonblocking(true)?;
        let thread = thread::Builder::new().name("traffic".into()).spawn(move || {
            // Without the right to raise the priority, the thread runs with the usual one.
            let _ = hurry();
            let (start, datagram, mut sent) = (Instant::now(), [0; DATAGRAM], 0.0);
            while !is_over.load(Ordering::Relaxed) {
                let due = start.elapsed().as_secs_f64() * mbit * 1e6 / 8.0;
                while sent < due {
                    // Datagrams that a full queue drops are lost, as everywhere.
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
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}
