//! Participants that send far more than any application should, each in a room of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use groupwire_client::{Channel, Event, Events, Options, Qos, Room, SendOptions, Sent};

use super::participants::Participants;
use crate::Result;

/// The bytes of a message, and the number of messages that are sent before events are handled.
const SIZE: usize = 1000;
const BURST: u32 = 50;

/// The actions of flooding clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Transactions,
    Awareness,
    Joins,
}

/// See the [module](self). Dropping this ends them.
pub(super) struct Flood {
    done: Arc<AtomicU64>,
    _participants: Participants,
}

impl Flood {
    pub(super) fn begin(port: u16, kind: Kind, count: u32) -> Result<Self> {
        let done = Arc::new(AtomicU64::new(0));
        let participants = Participants::live(count, || {}, {
            let done = Arc::clone(&done);
            move |number| person(port, kind, number, Arc::clone(&done))
        })?;
        Ok(Flood { done, _participants: participants })
    }

    /// Messages that the clients accepted, or joins that the server accepted.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Runs one flooding client. It connects again if the server closes its connection.
async fn person(port: u16, kind: Kind, number: u32, done: Arc<AtomicU64>) {
    loop {
        let url = format!("ws://127.0.0.1:{port}");
        let options = Options::new(&format!("flood {number}"));
        if let Ok((room, mut events)) = Room::connect(&url, options) {
            if kind == Kind::Joins {
                if room.joined().await.is_ok() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
                continue;
            }
            let qos = match kind {
                Kind::Awareness => Qos::awareness(),
                _ => Qos::transaction(),
            };
            if let Ok(channel) = room.channel("flood", qos) {
                send(&channel, &mut events, &done).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Sends as much as the client accepts, until the session ends.
async fn send(channel: &Channel, events: &mut Events, done: &AtomicU64) {
    let mut number = 0_u64;
    loop {
        for _ in 0..BURST {
            // Messages that compression cannot shrink.
            let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
            let bytes: Vec<u8> = word.iter().copied().cycle().take(SIZE).collect();
            number += 1;
            match channel.send(&*bytes, SendOptions::default()) {
                Ok(Sent::NotNow) => break,
                Ok(_) => _ = done.fetch_add(1, Ordering::Relaxed),
                Err(_) => return,
            }
        }
        // Handles the events that have come, and lets the other clients run.
        let pause = tokio::time::sleep(Duration::from_millis(1));
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => break,
                event = events.next() => match event {
                    None | Some(Event::Error { fatal: true, .. }) => return,
                    Some(_) => {}
                },
            }
        }
    }
}
