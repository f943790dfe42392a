//! A participant: a client of the session and its application.

use std::time::Duration;

use groupwire_session::client::{Client, Event, Input, Output};

use super::{Arrived, Lane, Transport};
use crate::sim::http3::{Ends, Gone, Side};
use crate::sim::network::Node;

/// The application of a client.
pub trait App {
    /// Handles an event of the client. The application may answer through the client.
    fn event(&mut self, now: Duration, client: &mut Client, event: Event);

    /// Does what is due. Returns the time of the application's next action.
    fn act(&mut self, now: Duration, client: &mut Client) -> Option<Duration>;
}

/// A client with its application, joined to the node of its room.
pub struct ClientNode<A> {
    client: Client,
    app: A,
    room: usize,
    lane: Lane,
    ends: Ends,
    transport: Option<Transport>,
    /// The number of transports so far.
    dialed: u32,
}

impl<A: App> ClientNode<A> {
    /// A client of the room in the [`RoomNode`](super::RoomNode) with that number.
    pub fn new(room: usize, lane: Lane, client: Client, app: A) -> Self {
        ClientNode { client, app, room, lane, ends: Ends::default(), transport: None, dialed: 0 }
    }

    /// Replaces the ends of QUIC, which are a native client and its server. The room has to have
    /// the same.
    #[must_use]
    pub fn with_ends(self, ends: Ends) -> Self {
        ClientNode { ends, ..self }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The application.
    pub fn app(&self) -> &A {
        &self.app
    }

    /// Carries out the client's outputs. Returns the time of its next timeout.
    fn drain(&mut self, now: Duration) -> Option<Duration> {
        loop {
            match self.client.poll_output(now) {
                Output::Timeout(at) => return at,
                Output::Event(event) => self.app.event(now, &mut self.client, event),
                Output::Dial => {
                    self.dialed += 1;
                    self.transport =
                        Some(Transport::new(self.lane, self.dialed, Side::Client, self.ends));
                    let max_datagram = self.lane.max_datagram();
                    self.client.handle_input(now, Input::Opened { max_datagram });
                }
                Output::Datagram(packet) => {
                    if let Some(transport) = &mut self.transport {
                        let needs = self.client.path_needs(now);
                        transport.send_datagram(now, packet, needs);
                    }
                }
                Output::Send(packet) => {
                    if let Some(transport) = &mut self.transport {
                        transport.write(&packet);
                    }
                }
                Output::Hangup => {
                    if let Some(transport) = &mut self.transport {
                        transport.close();
                    }
                    self.client.handle_input(now, Input::Closed);
                }
            }
        }
    }
}

impl<A: App> Node for ClientNode<A> {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        let Some(transport) = self.transport.as_mut().filter(|_| from == self.room) else { return };
        transport.receive(now, packet);
        while let Some(arrived) = transport.read() {
            let input = match &arrived {
                Arrived::Packet(packet) => Input::Packet(packet),
                Arrived::Datagram(packet) => Input::Datagram(packet),
                Arrived::Close => Input::Closed,
            };
            self.client.handle_input(now, input);
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        self.client.handle_input(now, Input::Timeout);
        loop {
            let act = self.app.act(now, &mut self.client);
            let timeout = self.drain(now);
            let Some(transport) = &mut self.transport else {
                return [act, timeout].into_iter().flatten().min();
            };
            let room = self.room;
            let resend = transport.poll(now, &mut |packet| send(room, packet));
            let taken = transport.taken();
            (0..taken.packets).for_each(|_| self.client.handle_input(now, Input::Sent));
            let Gone { sent, dropped } = taken.datagrams;
            (0..sent).for_each(|_| self.client.handle_input(now, Input::DatagramSent));
            (0..dropped).for_each(|_| self.client.handle_input(now, Input::DatagramDropped));
            if taken.is_nothing() {
                return [act, timeout, resend].into_iter().flatten().min();
            }
        }
    }
}
