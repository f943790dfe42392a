//! Participants of rooms that nobody joins and nobody floods. They write transactions at a steady
//! rate, and record the latencies of each other's transactions.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use groupwire_client::{Event, Qos, SendOptions, Sent, Status};
use tokio::time::{MissedTickBehavior, interval_at};

use super::door::Door;
use super::participants::Participants;
use crate::Result;
use crate::statistics::Summary;

const ROOMS: u32 = 5;
/// The number of bystanders in each room.
const PEOPLE: u32 = 4;
/// The time between two transactions of one bystander.
const PAUSE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(30);

/// See the [module](self). Dropping this ends them.
pub(super) struct Bystanders {
    shared: Arc<BystanderState>,
    _participants: Participants,
}

struct BystanderState {
    /// The time at which the clock of the times in transactions was 0.
    began: Instant,
    /// The time and the latency of each delivery.
    deliveries: Mutex<Vec<(Instant, Duration)>>,
    ready: AtomicUsize,
    /// The number of bystanders that have a connection now.
    connected: AtomicUsize,
    /// The number of gaps and errors.
    failures: AtomicU64,
}

impl Bystanders {
    /// Lets all bystanders join.
    pub(super) fn join(door: &Door, port: u16) -> Result<Self> {
        let shared = Arc::new(BystanderState {
            began: Instant::now(),
            deliveries: Mutex::default(),
            ready: AtomicUsize::new(0),
            connected: AtomicUsize::new(0),
            failures: AtomicU64::new(0),
        });
        let participants = Participants::live(ROOMS * PEOPLE, || {}, {
            let (shared, door) = (Arc::clone(&shared), Arc::new(door.clone()));
            move |number| {
                let (shared, door) = (Arc::clone(&shared), Arc::clone(&door));
                async move {
                    if person(&door, port, number, &shared).await.is_none() {
                        shared.failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        })?;
        let bystanders = Bystanders { shared, _participants: participants };
        let start = Instant::now();
        while bystanders.shared.ready.load(Ordering::Relaxed) < (ROOMS * PEOPLE) as usize {
            if start.elapsed() > PATIENCE {
                return Err("the people of other rooms could not join".into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(bystanders)
    }

    /// The time at which all bystanders have a connection again; `None` if that takes too long.
    pub(super) fn await_back(&self) -> Option<Instant> {
        let start = Instant::now();
        while self.shared.connected.load(Ordering::Relaxed) < (ROOMS * PEOPLE) as usize {
            if start.elapsed() > PATIENCE {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Some(Instant::now())
    }

    /// The latencies of transactions that were sent after a moment and arrived before another one,
    /// in ms.
    pub(super) fn times(&self, from: Instant, until: Instant) -> Summary {
        let deliveries = self.shared.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        let within = deliveries.iter().filter(|(at, time)| {
            *at < until && at.checked_sub(*time).is_some_and(|sent| sent >= from)
        });
        let times: Vec<f64> = within.map(|(_, time)| time.as_secs_f64() * 1e3).collect();
        Summary::of(&times)
    }

    /// The number of bystanders that lost something or ended.
    pub(super) fn failures(&self) -> u64 {
        self.shared.failures.load(Ordering::Relaxed)
    }
}

/// Runs one bystander. Returns only if something went wrong.
async fn person(door: &Door, port: u16, number: u32, shared: &BystanderState) -> Option<()> {
    let (room, mut events) = door.enter(port, &format!("bystanders {}", number % ROOMS), number)?;
    let channel = room.channel("lines", Qos::transaction()).ok()?;
    // Bystanders write at different times.
    let first = PAUSE.mul_f64(f64::from(number) / f64::from(ROOMS * PEOPLE));
    let mut clock = interval_at(tokio::time::Instant::now() + first, PAUSE);
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = clock.tick() => {
                let text = format!(r#"{{"by":{number},"at":{}}}"#, shared.began.elapsed().as_micros());
                let sent = channel.send(&*text, SendOptions::default()).ok()?;
                if sent == Sent::NotNow {
                    return None;
                }
            }
            event = events.next() => match event? {
                Event::Status(Status::Connected) => _ = shared.connected.fetch_add(1, Ordering::Relaxed),
                Event::Status(Status::Reconnecting) => {
                    shared.connected.fetch_sub(1, Ordering::Relaxed);
                }
                Event::Synced { .. } => _ = shared.ready.fetch_add(1, Ordering::Relaxed),
                Event::Message(message) if !message.own && !message.state => {
                    let sent = shared.began + Duration::from_micros(sent_at(&message.bytes)?);
                    let now = Instant::now();
                    let mut deliveries =
                        shared.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
                    deliveries.push((now, now.saturating_duration_since(sent)));
                }
                Event::Gap { .. } | Event::Error { fatal: true, .. } => return None,
                _ => {}
            },
        }
    }
}

/// The time in a text, in microseconds.
fn sent_at(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.strip_suffix('}')?.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_when_it_was_sent() {
        assert_eq!(sent_at(br#"{"by":12,"at":3456}"#), Some(3456));
        assert_eq!(sent_at(b"hello"), None);
    }
}
