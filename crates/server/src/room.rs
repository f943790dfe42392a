//! The task that drives one room.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use groupwire_session::room::{Event, Input, LinkId, Output, Room, Stats};
use groupwire_session::{Error, Opening, Secret};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::Instant;

use crate::hub::Hub;

/// What a room's task is told.
pub(crate) enum Message {
    /// A connection's first packet, already known to be well-formed.
    Join {
        link: LinkId,
        opening: Bytes,
        secret: Secret,
        ways: Link,
    },
    /// A later packet. The permit is given back once it has been taken in.
    Packet {
        link: LinkId,
        packet: Bytes,
        _permit: OwnedSemaphorePermit,
    },
    /// A datagram, likewise.
    Datagram {
        link: LinkId,
        packet: Bytes,
        _permit: OwnedSemaphorePermit,
    },
    /// The connection wrote one packet.
    Sent {
        link: LinkId,
    },
    /// A datagram has left, or was dropped.
    DatagramSent {
        link: LinkId,
    },
    /// The connection broke the rules of its transport.
    Fail {
        link: LinkId,
        error: Error,
    },
    /// The connection is closed.
    Closed {
        link: LinkId,
    },
    Shutdown {
        retry: Duration,
    },
    Stats {
        answer: oneshot::Sender<Stats>,
    },
}

/// The ways to a connection's task.
pub(crate) struct Link {
    pub(crate) packets: mpsc::Sender<Outbound>,
    pub(crate) datagrams: mpsc::Sender<Vec<u8>>,
    /// Octets that a datagram may have; 0: there are none.
    pub(crate) max_datagram: usize,
}

/// What a connection's task is told.
pub(crate) enum Outbound {
    Packet(Vec<u8>),
    /// A last packet, then close.
    Close {
        packet: Vec<u8>,
        reason: Option<Error>,
    },
}

/// Messages taken in before the room looks at what to do: a batch shares one tick and one look at the clock.
const BATCH: usize = 256;

/// Runs a room until nobody has been there for `keep_empty`.
pub(crate) async fn drive(
    hub: Arc<Hub>,
    room: Room,
    mut messages: mpsc::UnboundedReceiver<Message>,
) {
    let mut driver = Driver { origin: Instant::now(), room, links: HashMap::new() };
    let mut batch = Vec::with_capacity(BATCH);
    let mut wake = None;
    let mut empty_since: Option<Instant> = None;
    loop {
        let close = empty_since.map(|since| since + hub.config.keep_empty);
        let next = [wake, close].into_iter().flatten().min();
        let asleep = async {
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            count = messages.recv_many(&mut batch, BATCH) => if count == 0 { return },
            () = asleep => {}
        }
        let now = driver.origin.elapsed();
        for message in batch.drain(..) {
            driver.take_in(now, message);
        }
        driver.room.handle_input(now, Input::Timeout);
        wake = driver.carry_out(now);
        if !driver.room.is_empty() {
            empty_since = None;
            continue;
        }
        let since = *empty_since.get_or_insert_with(Instant::now);
        let is_over = driver.room.is_untouched() || since.elapsed() >= hub.config.keep_empty;
        if is_over && hub.close(driver.room.name(), &messages, driver.room.stats()) {
            tracing::info!(room = driver.room.name(), "room closed");
            return;
        }
    }
}

struct Driver {
    origin: Instant,
    room: Room,
    links: HashMap<LinkId, Link>,
}

impl Driver {
    fn take_in(&mut self, now: Duration, message: Message) {
        match message {
            Message::Join { link, opening, secret, ways } => {
                self.join(now, link, &opening, secret, ways);
            }
            Message::Packet { link, packet, .. } => {
                self.room.handle_input(now, Input::Packet { link, packet: &packet });
            }
            Message::Datagram { link, packet, .. } => {
                self.room.handle_input(now, Input::Datagram { link, packet: &packet });
            }
            Message::Sent { link } => self.room.handle_input(now, Input::Sent { link }),
            Message::DatagramSent { link } => {
                self.room.handle_input(now, Input::DatagramSent { link });
            }
            Message::Fail { link, error } => {
                self.room.handle_input(now, Input::Fail { link, error });
            }
            Message::Closed { link } => {
                self.links.remove(&link);
                self.room.handle_input(now, Input::Closed { link });
            }
            Message::Shutdown { retry } => self.room.handle_input(now, Input::Shutdown { retry }),
            Message::Stats { answer } => drop(answer.send(self.room.stats())),
        }
    }

    fn join(&mut self, now: Duration, link: LinkId, opening: &[u8], secret: Secret, ways: Link) {
        let max_datagram = ways.max_datagram;
        self.links.insert(link, ways);
        let opening = Opening::read(opening);
        let input = match &opening {
            Ok(opening) => Input::Join { link, opening, secret, max_datagram },
            Err(error) => Input::Fail { link, error: error.clone() },
        };
        self.room.handle_input(now, input);
    }

    /// Does what the room says and returns when it wants to be called again.
    fn carry_out(&mut self, now: Duration) -> Option<Instant> {
        loop {
            match self.room.poll_output() {
                // The room never has more than two packets and two datagrams under way, so there is always a place.
                Output::Send { link, packet } => {
                    if let Some(ways) = self.links.get(&link) {
                        let _ = ways.packets.try_send(Outbound::Packet(packet));
                    }
                }
                Output::Datagram { link, packet } => {
                    let ways = self.links.get(&link);
                    if ways.is_none_or(|ways| ways.datagrams.try_send(packet).is_err()) {
                        // Dropped: more of them wait than are of use.
                        self.room.handle_input(now, Input::DatagramSent { link });
                    }
                }
                Output::Close { link, packet, reason } => {
                    if let Some(ways) = self.links.remove(&link) {
                        let _ = ways.packets.try_send(Outbound::Close { packet, reason });
                    }
                }
                Output::Event(event) => log(self.room.name(), &event),
                Output::Timeout(at) => return at.map(|at| self.origin + at),
            }
        }
    }
}

fn log(room: &str, event: &Event) {
    match event {
        Event::Joined { participant, link, resumed } => {
            tracing::info!(room, participant, link, resumed, "joined");
        }
        Event::Refused { link, error } => tracing::info!(room, link, %error, "refused"),
        Event::Away { participant, error: Some(error) } => {
            tracing::warn!(room, participant, %error, fault = ?error.fault(), "disconnected");
        }
        Event::Away { participant, error: None } => tracing::info!(room, participant, "away"),
        Event::Left { participant } => tracing::info!(room, participant, "left"),
        Event::Channel { name, qos } => tracing::debug!(room, name, ?qos, "channel"),
        Event::Snapshot { as_of, size } => tracing::info!(room, as_of, size, "snapshot"),
        _ => {}
    }
}
