//! Connections: their participants' ends, and what is on its way between them and the server.

use std::time::Duration;

use groupwire_client::world::LinkEvent;
use groupwire_session::room::Input;

use super::{Held, Member, State, link};
use crate::clients::connection::{Arrival, Connection, Number, Opening};
use crate::clients::path::Way;

impl State {
    // A participant's end of a connection.

    /// Begins to open a connection.
    pub(crate) fn dial(&mut self, member: usize) -> Number {
        self.connections.retain(|_, one| !one.is_over());
        let room = self.server.room_named(&self.members[member].room);
        self.opened += 1;
        let number = self.opened;
        let Member { path, has_datagrams, .. } = &self.members[member];
        let connection = Connection::new(member, room, *has_datagrams);
        let time = path.handshake_time(connection.round_trips(), &mut self.random);
        self.connections.insert(number, connection);
        let held = Held::Opening(number);
        self.plan(self.now.saturating_add(time), move |state| {
            state.arrive(member, Way::Down, held)
        });
        number
    }

    pub(crate) fn connection(&mut self, number: Number) -> Option<&mut Connection> {
        self.connections.get_mut(&number)
    }

    pub(crate) fn send(&mut self, number: Number, packet: Vec<u8>) {
        let Some(departure) = self.fly(number, Way::Up, Arrival::Packet(packet)) else { return };
        self.leave(departure, move |state| state.tell_client(number, LinkEvent::Sent));
    }

    pub(crate) fn send_datagram(&mut self, number: Number, packet: Vec<u8>) {
        let departure = self.fly_alone(number, Way::Up, packet);
        self.leave(departure, move |state| state.tell_client(number, LinkEvent::DatagramSent));
    }

    /// The participant closes the connection.
    pub(crate) fn close(&mut self, number: Number) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        if !std::mem::replace(&mut connection.is_client_deaf, true) {
            self.fly(number, Way::Up, Arrival::End);
        }
    }

    pub(super) fn tell_client(&mut self, number: Number, event: LinkEvent) {
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.tell_client(event);
        }
    }

    pub(super) fn close_client(&mut self, number: Number) {
        if let Some(connection) = self.connections.get_mut(&number) {
            if connection.opening == Opening::Waiting {
                connection.opened(Opening::Refused);
            }
            connection.tell_client(LinkEvent::Closed);
        }
    }

    // The network.

    fn open(&mut self, number: Number) {
        let is_up = self.server.is_up;
        let Some(connection) = self.connections.get_mut(&number) else { return };
        if connection.is_client_deaf || connection.is_broken {
            return;
        }
        if is_up {
            connection.opened(Opening::Open);
        } else {
            self.close_client(number);
        }
    }

    /// Sends something on the stream, which arrives after what was sent before. Returns when it has
    /// left; `None` if that is told when it arrives.
    pub(super) fn fly(&mut self, number: Number, way: Way, arrival: Arrival) -> Option<Duration> {
        let connection = self.connections.get_mut(&number)?;
        let (member, bytes) = (connection.member, bytes_of(&arrival));
        let path = &mut self.members[member].path;
        let departure = path.departure(self.now, way, bytes);
        let (time, losses) = path.stream_time(way, bytes, &mut self.random);
        let lane = connection.lane(way);
        lane.last = lane.last.max(departure.saturating_add(time));
        let (at, is_blocked) = (lane.last, lane.put(bytes, arrival));
        if losses > 0 {
            let (name, way) = (&self.members[member].name, way.words());
            let text = format!("{name}: {bytes} bytes of the stream {way} are lost and sent again");
            self.note(text);
        }
        self.plan(at, move |state| state.arrive(member, way, Held::Packet(number)));
        (!is_blocked).then_some(departure)
    }

    /// Sends a datagram. Returns when it has left.
    pub(super) fn fly_alone(&mut self, number: Number, way: Way, packet: Vec<u8>) -> Duration {
        let Some(connection) = self.connections.get(&number) else { return self.now };
        let member = connection.member;
        let path = &mut self.members[member].path;
        let departure = path.departure(self.now, way, packet.len());
        match path.datagram_time(way, &mut self.random) {
            Some(time) => self.plan(departure.saturating_add(time), move |state| {
                state.datagram_arrives(number, way, &packet);
            }),
            None => self.lost(member, way, packet.len()),
        }
        departure
    }

    fn lost(&mut self, member: usize, way: Way, bytes: usize) {
        let (name, way) = (&self.members[member].name, way.words());
        let text = format!("{name}: a datagram of {bytes} bytes {way} is lost");
        self.note(text);
    }

    /// Does what happens when something has left the sender, now or at that time.
    fn leave(&mut self, departure: Duration, left: impl FnOnce(&mut State) + Send + 'static) {
        if departure <= self.now {
            left(self);
        } else {
            self.plan(departure, left);
        }
    }

    /// Stream data arrives, now or when the network is there.
    pub(super) fn arrive(&mut self, member: usize, way: Way, held: Held) {
        let Member { path, held: waiting, .. } = &mut self.members[member];
        let not_before = path.not_before(way);
        if path.cut_until.is_some() {
            waiting.push((way, held));
        } else if self.now < not_before {
            self.plan(not_before, move |state| state.arrive(member, way, held));
        } else {
            match held {
                Held::Opening(number) => self.open(number),
                Held::Packet(number) => self.packet_arrives(number, way),
            }
        }
    }

    fn packet_arrives(&mut self, number: Number, way: Way) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let Some(flight) = connection.lane(way).take() else { return };
        if connection.is_broken {
            return;
        }
        match (way, flight.arrival) {
            (Way::Up, Arrival::Packet(packet)) => {
                if flight.is_blocked {
                    self.tell_client(number, LinkEvent::Sent);
                }
                self.server_receives(number, &packet);
            }
            (Way::Up, Arrival::End) => self.close_server(number),
            (Way::Down, Arrival::Packet(packet)) => {
                if flight.is_blocked {
                    self.input(number, Input::Sent { link: link(number) });
                }
                self.tell_client(number, LinkEvent::Packet(packet));
            }
            (Way::Down, Arrival::End) => self.close_client(number),
        }
    }

    fn datagram_arrives(&mut self, number: Number, way: Way, packet: &[u8]) {
        let Some(connection) = self.connections.get(&number) else { return };
        let member = connection.member;
        if connection.is_broken {
            return;
        }
        if self.members[member].path.cut_until.is_some() {
            return self.lost(member, way, packet.len());
        }
        match way {
            Way::Up => self.input(number, Input::Datagram { link: link(number), packet }),
            Way::Down => self.tell_client(number, LinkEvent::Datagram(packet.to_vec())),
        }
    }
}

fn bytes_of(arrival: &Arrival) -> usize {
    match arrival {
        Arrival::Packet(packet) => packet.len(),
        Arrival::End => 0,
    }
}
