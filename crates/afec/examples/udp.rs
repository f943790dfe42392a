//! Two endpoints with UDP sockets on 127.0.0.1. One sends the positions of a pointer and drops a
//! fifth of its packets.
//!
//! ```sh
//! cargo run --example udp -p groupwire-afec
//! ```

use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use groupwire_afec::{Config, Endpoint, Qos, Submission};

const POINTER: u32 = 1;
const INTERVAL: Duration = Duration::from_millis(33);
const SECONDS: u64 = 8;
/// The share of packets that are dropped.
const LOSS: f64 = 0.2;

type Failure = Box<dyn Error + Send + Sync>;

/// An endpoint and its socket. `start`: when the clock of this end begins; each end has its own
/// clock.
struct Socket {
    endpoint: Endpoint,
    socket: UdpSocket,
    peer: SocketAddr,
    start: Instant,
    loss: f64,
    random: oorandom::Rand32,
}

impl Socket {
    fn new(socket: UdpSocket, peer: SocketAddr, loss: f64) -> Result<Self, Failure> {
        let mut endpoint = Endpoint::new(Config::default());
        endpoint.open(POINTER, Qos::new())?;
        let random = oorandom::Rand32::new(1);
        Ok(Socket { endpoint, socket, peer, start: Instant::now(), loss, random })
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Sends the packets that are due, and receives until `until` or until the next packet is due.
    fn turn(&mut self, until: Duration) -> Result<(), Failure> {
        let mut packet = Vec::new();
        while self.endpoint.transmit(self.now(), &mut packet).is_some() {
            if f64::from(self.random.rand_float()) >= self.loss {
                self.socket.send_to(&packet, self.peer)?;
            }
        }
        let now = self.now();
        let due = self.endpoint.timeout(now).map_or(until, |due| due.min(until));
        let wait = due.saturating_sub(now).max(Duration::from_micros(100));
        self.socket.set_read_timeout(Some(wait))?;
        packet.resize(1500, 0);
        match self.socket.recv_from(&mut packet) {
            // A packet from a stranger, or a damaged one, is no reason to stop.
            Ok((len, from)) if from == self.peer => {
                let _ = self.endpoint.receive(self.now(), &packet[..len], |_| {});
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
        self.endpoint.expire(self.now());
        while let Some(notice) = self.endpoint.notice() {
            println!("{notice:?}");
        }
        Ok(())
    }
}

fn receive(mut end: Socket) -> Result<(), Failure> {
    println!("  s    came    MER now and so far   asked   path loses");
    let (mut judged, mut missed) = (0, 0);
    for second in 1..=SECONDS {
        while end.now() < Duration::from_secs(second) {
            end.turn(Duration::from_secs(second))?;
        }
        let loss = end.endpoint.loss().rate;
        let stats = end.endpoint.received(POINTER).ok_or("the channel is open")?;
        let now = (stats.missed - missed) as f64 / (stats.judged - judged).max(1) as f64;
        (judged, missed) = (stats.judged, stats.missed);
        println!(
            "{second:3} {:8} {:10.1} % {:6.1} % {:7} {:10.1} %",
            judged - missed,
            100.0 * now,
            100.0 * stats.mer(),
            stats.asked,
            100.0 * loss
        );
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let [here, there] = [UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?];
    let addresses = (here.local_addr()?, there.local_addr()?);
    let receiver = Socket::new(there, addresses.0, 0.0)?;
    let receiver = thread::spawn(|| receive(receiver));
    let mut end = Socket::new(here, addresses.1, LOSS)?;
    let mut next = Duration::ZERO;
    while end.now() < Duration::from_secs(SECONDS) {
        let now = end.now();
        if now >= next {
            let position = format!("pointer {} {}", now.as_millis() % 1920, now.as_millis() % 1080);
            end.endpoint.send(now, POINTER, Submission::new(position.as_bytes()))?;
            next += INTERVAL;
        }
        end.turn(next)?;
    }
    let (stats, code) = end.endpoint.sent(POINTER).ok_or("the channel is open")?;
    let redundancy = 100.0 * stats.repeats as f64 / stats.messages.max(1) as f64;
    println!("{} messages, {redundancy:.0} % of them again, at last with {code:?}", stats.messages);
    receiver.join().map_err(|_| "the receiver panicked")?
}
