//! Carries out the outputs of the room's state machine: packets, datagrams, closings, writes to the
//! store, events.

use std::time::Duration;

use groupwire_session::room::{Event, Input, Output, SharedPacket};
use groupwire_session::{Identity, LinkId, ParticipantId};
use tokio::time::Instant;

use super::Driver;
use crate::rooms::store::RoomStore;
use crate::webhook::Event as WebhookEvent;

impl Driver {
    /// Carries out the room's outputs. Returns when the room's next timeout is due.
    pub(super) fn run_outputs(&mut self, now: Duration) -> Option<Instant> {
        // Events of participants that left. They are told last, because the room outputs the
        // `Store` of their last transactions last.
        let mut leaves = Vec::new();
        loop {
            if let Some(shared) = self.room.poll_shared() {
                self.send_shared(now, &shared);
                continue;
            }
            match self.room.poll_output() {
                Output::Send { link, packet, body } => self.deliveries.send(link, packet, body),
                Output::Datagram { link, packet, body: Some(body) } => {
                    self.deliveries.send_shared_datagram(link, [&packet, &body]);
                }
                Output::Datagram { link, packet, body: None } => {
                    self.send_datagram(now, link, packet);
                }
                Output::Close { link, packet, reason } => {
                    // The connection's task writes the last packet, after all others.
                    self.write_all(now);
                    self.deliveries.close(link, packet, reason);
                }
                Output::Token { link, token } => {
                    if let Some(connection) = self.deliveries.connections.get(link) {
                        // One token may wait while another one is checked. Further tokens are
                        // dropped.
                        connection.outlet.token(token);
                    }
                }
                Output::Delay { link, delay } => {
                    if let Some(connection) = self.deliveries.connections.get(link) {
                        connection.outlet.hold(self.started + now + delay);
                    }
                }
                Output::Store(write) => {
                    let transactions = self.room.transactions_of(&write);
                    let webhook = self.webhook.as_mut();
                    let events = webhook.map(|webhook| webhook.of_write(&write, transactions));
                    if let Some(store) = &mut self.store {
                        store.store(write, events.unwrap_or_default());
                    }
                }
                Output::Event(event) => self.on_event(event, &mut leaves),
                // The room says goodbye to everybody first.
                Output::Timeout(_) if self.has_to_end() => self.end(now),
                // Writing the packets may let the room send more.
                Output::Timeout(_) if self.deliveries.has_writes() => self.write_all(now),
                Output::Timeout(at) => {
                    self.send_events(leaves);
                    return at.map(|at| self.started + at);
                }
            }
        }
    }

    /// True if the store does not answer, and more waits for it than may wait.
    fn has_to_end(&self) -> bool {
        let is_overfull = self.store.as_ref().is_some_and(RoomStore::is_overfull);
        if is_overfull && !self.is_over {
            tracing::error!("the store does not answer, and too much waits for it: the room ends");
        }
        is_overfull && !self.is_over
    }

    /// Sends a packet to several connections, and tells the room which of them keep it.
    fn send_shared(&mut self, now: Duration, shared: &SharedPacket) {
        // Earlier packets to the same connections go first.
        self.write_all(now);
        for link in self.deliveries.send_shared(shared) {
            self.room.handle_input(now, Input::Unsent { link });
        }
    }

    /// Writes the waiting packets, and tells the room which of them were sent.
    fn write_all(&mut self, now: Duration) {
        let Driver { deliveries, room, .. } = self;
        deliveries.write_all(|link| room.handle_input(now, Input::Sent { link }));
    }

    fn send_datagram(&mut self, now: Duration, link: LinkId, packet: Vec<u8>) {
        let needs = self.room.path_needs(now, link);
        if !self.deliveries.send_datagram(link, packet, needs) {
            self.room.handle_input(now, Input::DatagramDropped { link });
        }
    }

    /// Counts an event and tells it to the webhook. The room logs its events itself.
    fn on_event(&mut self, event: Event, leaves: &mut Vec<WebhookEvent>) {
        match event {
            Event::Joined { participant, link, resumed } => {
                self.on_joined(participant, link, resumed, leaves);
            }
            Event::Visits { participant } => {
                if let Some(webhook) = &mut self.webhook {
                    let user = self.room.identity_of(participant).and_then(Identity::user);
                    leaves.extend(webhook.joined(participant, user, false));
                }
            }
            Event::Left { participant } => {
                self.emulated.remove(&participant);
                leaves.extend(self.webhook.iter_mut().flat_map(|it| it.left(participant)));
            }
            Event::Snapshot { part, as_of, size } => {
                let is_stored = self.store.is_some();
                let webhook = self.webhook.as_mut();
                let events = webhook.map(|it| it.snapshot(&part, as_of, size, is_stored));
                self.send_events(events.unwrap_or_default());
            }
            // The mirror counts its clients.
            Event::Refused { link, .. } if self.room.has_mirror(link) => {}
            Event::Refused { error, .. } => self.context.events.refusals.count(&error),
            Event::Away { error: Some(error), .. } => self.context.events.disconnects.count(&error),
            _ => {}
        }
    }

    fn on_joined(
        &mut self,
        participant: ParticipantId,
        link: LinkId,
        resumed: bool,
        leaves: &mut Vec<WebhookEvent>,
    ) {
        if let Some(webhook) = &mut self.webhook {
            let user = self.room.identity_of(participant).and_then(Identity::user);
            let events = webhook.joined(participant, user, resumed);
            // The webhook's events of participants that left before this one joined come before its
            // own.
            match leaves.is_empty() {
                true => self.send_events(events),
                false => leaves.extend(events),
            }
        }
        let is_guest = self.room.has_mirror(link);
        if let Some(connection) = self.deliveries.connections.get_mut(link).filter(|_| !is_guest) {
            connection.trace.joined(resumed);
            self.context.events.joins.add(connection.opened_at.elapsed());
        }
        self.apply_path(participant, link);
    }
}
