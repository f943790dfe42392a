//! Carries out the outputs of the room's state machine: packets, datagrams, closings, writes to the
//! store, events.

use std::sync::Arc;
use std::time::Duration;

use groupwire_session::room::{Event, Input, Output, SharedPacket, whole_packet};
use groupwire_session::{Error, Identity, LinkId, ParticipantId, PathNeeds};
use tokio::time::Instant;

use super::connection::Socket;
use super::writes::Write;
use super::{Close, Driver, Outbound};
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
                Output::Send { link, packet, body } => self.send(link, packet, body),
                Output::Datagram { link, packet, body: Some(body) } => {
                    self.send_shared_datagram(link, packet, &body);
                }
                Output::Datagram { link, packet, body: None } => {
                    self.send_datagram(now, link, packet);
                }
                Output::Close { link, packet, reason } => {
                    // The connection's task writes the last packet, after all others.
                    self.write_all(now);
                    self.close(link, packet, reason);
                }
                Output::Token { link, token } => {
                    if let Some(connection) = self.connections.get(link) {
                        // One token may wait while another one is checked. Further tokens are
                        // dropped.
                        connection.tokens.put(token);
                    }
                }
                Output::Delay { link, delay } => {
                    if let Some(connection) = self.connections.get(link) {
                        connection.brake.hold(self.started + now + delay);
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
                Output::Timeout(_) if !self.writes.is_empty() => self.write_all(now),
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

    /// Sends a packet, whose second part may be shared with packets to others. An outbox has space
    /// for it: the room never has more than three packets and two datagrams under way per
    /// connection.
    fn send(&mut self, link: LinkId, packet: Vec<u8>, body: Option<Arc<[u8]>>) {
        if let Some(writer) = self.connections.sockets().get(&link).and_then(Socket::writer) {
            self.writes.push(Write { link, writer: Arc::clone(writer), packet, body });
            self.sent.written += 1;
        } else if let Some(connection) = self.connections.get(link) {
            let packet = whole_packet(packet, body.as_deref());
            connection.packets.put(Outbound::Packet(packet));
            self.sent.handed_over += 1;
        }
    }

    /// Sends a packet to several connections, and tells the room which of them keep it.
    fn send_shared(&mut self, now: Duration, shared: &SharedPacket) {
        // Earlier packets to the same connections go first.
        self.write_all(now);
        let Driver { writes, connections, room, sent, .. } = self;
        let left = writes.write_shared(connections.sockets(), shared);
        sent.handed_over += left.without_socket.len() as u32;
        sent.written += (shared.links.len() - left.without_socket.len()) as u32;
        for &link in &left.without_socket {
            if let Some(connection) = connections.get(link) {
                connection.packets.put(Outbound::Packet(shared.packet.to_vec()));
            }
        }
        for link in left.unsent.into_iter().chain(left.without_socket) {
            room.handle_input(now, Input::Unsent { link });
        }
    }

    /// Writes the waiting packets, and tells the room which of them were sent.
    fn write_all(&mut self, now: Duration) {
        let Driver { writes, room, .. } = self;
        writes.write_all(|link| room.handle_input(now, Input::Sent { link }));
    }

    /// Sends a datagram whose payload is shared with other receivers.
    fn send_shared_datagram(&mut self, link: LinkId, packet: Vec<u8>, body: &[u8]) {
        let Some(connection) = self.connections.get(link) else { return };
        self.sent.handed_over += 1;
        match (&connection.datagram_sink, &connection.datagrams) {
            (Some(sink), _) if !connection.is_emulated() => sink([&packet, body]),
            (_, Some((datagrams, _))) => {
                datagrams.put((whole_packet(packet, Some(body)), PathNeeds::default()));
            }
            _ => {}
        }
    }

    fn send_datagram(&mut self, now: Duration, link: LinkId, packet: Vec<u8>) {
        let connection = self.connections.get(link);
        let datagrams = connection.and_then(|connection| connection.datagrams.as_ref());
        let needs = self.room.path_needs(now, link);
        self.sent.handed_over += 1;
        if datagrams.is_none_or(|(datagrams, _)| !datagrams.put((packet, needs))) {
            // The outbox is full, so the datagram is dropped.
            self.room.handle_input(now, Input::DatagramDropped { link });
        }
    }

    fn close(&mut self, link: LinkId, packet: Vec<u8>, reason: Option<Error>) {
        let Some(mut connection) = self.connections.remove(link) else { return };
        if let Some(error) = &reason {
            connection.trace.refused(error);
        }
        connection.packets.put(Outbound::Close(Box::new(Close { packet, reason })));
    }

    /// Counts an event and tells it to the webhook. The room logs its events itself.
    fn on_event(&mut self, event: Event, leaves: &mut Vec<WebhookEvent>) {
        match event {
            Event::Joined { participant, link, resumed } => {
                self.on_joined(participant, link, resumed, leaves);
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
        if let Some(connection) = self.connections.get_mut(link) {
            connection.trace.joined(resumed);
            self.context.events.joins.add(connection.opened_at.elapsed());
        }
        self.apply_path(participant, link);
    }
}
