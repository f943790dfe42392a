//! The server's ends of connections, its rooms, and its restarts.

use std::time::Duration;

use groupwire_session::room::{Event, Input, Output, whole_packet};
use groupwire_session::{Error, Identity, Opening as FirstPacket};

use super::{State, link, number};
use crate::clients::connection::{Arrival, Number, Opening};
use crate::clients::path::Way;
use crate::clients::server::Restart;
use crate::room::{Polled, SimulatedRoom};

/// A change becomes durable after this time at most: a commit of a disk that works takes a few
/// milliseconds.
const SLOWEST_COMMIT: Duration = Duration::from_millis(10);

impl State {
    // The server's end of a connection.

    pub(super) fn server_receives(&mut self, number: Number, packet: &[u8]) {
        let Some(connection) = self.connections.get(&number) else { return };
        if connection.is_server_deaf {
            return;
        }
        if self.server.room(connection.room).links.contains(&number) {
            self.input(number, Input::Packet { link: link(number), packet });
        } else {
            self.join(number, packet);
        }
    }

    fn join(&mut self, number: Number, packet: &[u8]) {
        let Some(connection) = self.connections.get(&number) else { return };
        let (room, max_datagram) = (connection.room, connection.max_datagram());
        let token = FirstPacket::read(packet).map(|opening| opening.token().to_vec());
        let identity = match token {
            Ok(token) => self.identify(number, &token),
            Err(error) => Err(error.to_string()),
        };
        let now = self.now;
        match identity {
            Ok(identity) => {
                self.server.room(room).links.insert(number);
                self.drive(room, |core| {
                    // The packet was read above, so it can be read.
                    let _ = core.join(now, link(number), packet, max_datagram, &identity);
                });
            }
            Err(why) => {
                let text = format!("the server refuses {}: {why}", self.name_of(number));
                self.note(text);
                let error = Error::Refused { why };
                self.server_closes(number, groupwire_session::refusal(&error));
            }
        }
    }

    fn identify(&self, number: Number, token: &[u8]) -> Result<Identity, String> {
        let member = self.connections.get(&number).map(|one| &self.members[one.member]);
        if let Some(identity) = member.and_then(|member| member.identity.clone()) {
            return Ok(identity);
        }
        match &self.identify {
            Some(identify) => identify(&String::from_utf8_lossy(token)),
            None => Ok(Identity::default()),
        }
    }

    /// Closes the connection after a last packet. The server gets no further event.
    fn server_closes(&mut self, number: Number, packet: Vec<u8>) {
        if !packet.is_empty() {
            self.fly(number, Way::Down, Arrival::Packet(packet));
        }
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.is_server_deaf = true;
        }
        self.fly(number, Way::Down, Arrival::End);
    }

    pub(super) fn close_server(&mut self, number: Number) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let room = connection.room;
        if std::mem::replace(&mut connection.is_server_deaf, true) {
            return;
        }
        if self.server.room(room).links.remove(&number) {
            let now = self.now;
            self.drive(room, |core| core.input(now, Input::Closed { link: link(number) }));
        }
    }

    /// Reports something about a connection to its room.
    pub(super) fn input(&mut self, number: Number, input: Input<'_>) {
        let Some(connection) = self.connections.get(&number) else { return };
        let (room, now) = (connection.room, self.now);
        if !connection.is_server_deaf {
            self.drive(room, |core| core.input(now, input));
        }
    }

    // Rooms.

    /// Lets something happen to a room, and carries out its outputs.
    fn drive(&mut self, room: usize, happening: impl FnOnce(&mut SimulatedRoom)) {
        if self.server.room(room).is_dead {
            return;
        }
        // Outputs lead to further inputs only here.
        let Some(mut core) = self.server.room(room).core.take() else { return };
        happening(&mut core);
        loop {
            match core.poll() {
                Polled::Changed => self.commit(room),
                Polled::Output(Output::Timeout(at)) => break self.wait(room, at),
                Polled::Output(output) => self.carry_out(room, &mut core, output),
            }
        }
        self.server.room(room).core = Some(core);
    }

    fn carry_out(&mut self, room: usize, core: &mut SimulatedRoom, output: Output) {
        let now = self.now;
        match output {
            Output::Send { link: to, packet, body } => {
                let packet = whole_packet(packet, body.as_deref());
                let number = number(to);
                match self.fly(number, Way::Down, Arrival::Packet(packet)) {
                    Some(at) if at <= now => core.input(now, Input::Sent { link: to }),
                    Some(at) => self.plan(at, move |state| {
                        state.input(number, Input::Sent { link: to });
                    }),
                    None => {}
                }
            }
            Output::Datagram { link: to, packet, body } => {
                let is_reported = body.is_none();
                let packet = whole_packet(packet, body.as_deref());
                let number = number(to);
                match self.fly_alone(number, Way::Down, packet) {
                    _ if !is_reported => {}
                    at if at <= now => core.input(now, Input::DatagramSent { link: to }),
                    at => self.plan(at, move |state| {
                        state.input(number, Input::DatagramSent { link: to });
                    }),
                }
            }
            Output::Close { link: to, packet, .. } => {
                self.server.room(room).links.remove(&number(to));
                self.server_closes(number(to), packet);
            }
            Output::Token { link: to, token } => match self.identify(number(to), &token) {
                Ok(identity) => core.input(now, Input::Renewed { link: to, identity: &identity }),
                Err(why) => {
                    let error = Error::Refused { why };
                    core.input(now, Input::Fail { link: to, error });
                }
            },
            Output::Event(event) => {
                self.stir();
                self.note_event(&event);
            }
            // Only a quota delays reading, and simulated rooms have none.
            Output::Delay { .. } | Output::Store(_) | Output::Timeout(_) => {}
        }
    }

    fn wait(&mut self, room: usize, at: Option<Duration>) {
        let hosted = self.server.room(room);
        hosted.timer += 1;
        let timer = hosted.timer;
        let Some(at) = at else { return };
        self.plan(at, move |state| {
            let now = state.now;
            if state.server.room(room).timer == timer {
                state.drive(room, |core| core.input(now, Input::Timeout));
            }
        });
    }

    /// Plans that the last change becomes durable: changes do so in their order.
    fn commit(&mut self, room: usize) {
        self.stir();
        let time = SLOWEST_COMMIT.mul_f64(self.random.fraction());
        let hosted = self.server.room(room);
        hosted.last_commit = hosted.last_commit.max(self.now + time);
        let (at, life) = (hosted.last_commit, hosted.life);
        self.plan(at, move |state| {
            let now = state.now;
            if state.server.room(room).life == life {
                state.drive(room, |core| core.stored(now));
            }
        });
    }

    fn note_event(&mut self, event: &Event) {
        let text = match event {
            Event::Joined { participant, link, resumed } => {
                let name = self.name_of(number(*link));
                let resumed = if *resumed { ", resumed" } else { "" };
                format!("the room has {name} as participant {}{resumed}", participant.get())
            }
            Event::Refused { link, error } => {
                format!("the room refuses {}: {error}", self.name_of(number(*link)))
            }
            Event::Away { participant, error } => {
                let why = error.as_ref().map_or(String::new(), |error| format!(": {error}"));
                format!("the room marks participant {} as away{why}", participant.get())
            }
            Event::Left { participant } => {
                format!("participant {} has left the room", participant.get())
            }
            _ => return,
        };
        self.note(text);
    }

    // The server as a whole.

    /// The server ends, and another one takes its place.
    pub(crate) fn restart(&mut self, restart: Restart) {
        let Restart { down_for, keeps_state, goodbye } = restart;
        let how = if goodbye { "says goodbye" } else { "is killed" };
        self.note(format!("the server {how} and starts again after {} ms", down_for.as_millis()));
        self.stir();
        let rooms = 0..self.server.count();
        let now = self.now;
        if goodbye {
            for room in rooms.clone() {
                let input = Input::Shutdown { retry: down_for, step: Duration::ZERO };
                self.drive(room, |core| core.input(now, input));
            }
        }
        self.server.is_up = false;
        for number in self.connections.keys().copied().collect::<Vec<_>>() {
            if self.connections.get(&number).is_some_and(|one| one.opening == Opening::Open) {
                self.server_closes(number, Vec::new());
            }
        }
        for room in rooms.clone() {
            self.kill(room, goodbye, keeps_state);
        }
        self.server.life += 1;
        let life = self.server.life;
        self.plan(now.saturating_add(down_for), move |state| {
            if state.server.life != life {
                return;
            }
            state.server.is_up = true;
            state.note("the server is there again".to_owned());
            let now = state.now;
            for room in rooms {
                state.server.room(room).is_dead = false;
                state.drive(room, |core| core.input(now, Input::Timeout));
            }
        });
    }

    /// Ends the server of a room. After a goodbye all changes are kept, otherwise a random number
    /// of the changes that are not durable yet.
    fn kill(&mut self, room: usize, goodbye: bool, keeps_state: bool) {
        let incarnation = self.server.next_incarnation();
        let hosted = self.server.room(room);
        hosted.links.clear();
        hosted.timer += 1;
        hosted.life += 1;
        hosted.is_dead = true;
        let Some(core) = &mut hosted.core else { return };
        if !keeps_state {
            return core.lose(incarnation);
        }
        let unstored = core.unstored();
        let kept = if goodbye { unstored } else { self.random.up_to(unstored) };
        // A room that cannot read its own store begins anew, and the test sees it.
        if let Err(error) = core.restart(kept, incarnation) {
            core.lose(incarnation);
            self.note(format!("a bug of Groupwire: the room cannot be loaded: {error}"));
        }
    }
}
