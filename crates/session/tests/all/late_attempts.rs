//! A client gives a connection up before its HELLO was answered, and resumes over the next one.
//! Then the old HELLO reaches the room, which takes the session over to a connection that is gone
//! (wire W44).

use std::time::Duration;

use groupwire_session::client::{self, Client, Event, Status};
use groupwire_session::room::{Config, Input, Output, Room};
use groupwire_session::{AllowAll, Error, Identity, LinkId, Opening};

use crate::support::MS;
use crate::support::secrets::Drawn;

/// A client and a room, with packets that the test carries.
struct Pair {
    now: Duration,
    client: Client,
    room: Room,
    secrets: Drawn,
    /// What happened to the client.
    events: Vec<Event>,
    /// What the client sent.
    sent: Vec<Vec<u8>>,
    dials: bool,
}

impl Pair {
    fn new() -> Self {
        let now = Duration::ZERO;
        Pair {
            now,
            client: Client::new(now, client::Config::new("demo")).unwrap(),
            room: Room::new(Config::new("demo", 1), Box::new(AllowAll)),
            secrets: Drawn::default(),
            events: Vec::new(),
            sent: Vec::new(),
            dials: false,
        }
    }

    fn tell_client(&mut self, input: client::Input<'_>) {
        self.client.handle_input(self.now, input);
        loop {
            match self.client.poll_output(self.now) {
                client::Output::Send(packet) => self.sent.push(packet),
                client::Output::Dial => self.dials = true,
                client::Output::Event(event) => self.events.push(event),
                client::Output::Timeout(_) => return,
                _ => {}
            }
        }
    }

    /// Waits until the client dials, and opens a transport. Returns its HELLO.
    fn open(&mut self) -> Vec<u8> {
        while !std::mem::take(&mut self.dials) {
            self.now += 100 * MS;
            self.tell_client(client::Input::Timeout);
        }
        self.tell_client(client::Input::Opened { max_datagram: 0 });
        self.tell_client(client::Input::Sent);
        self.sent.pop().unwrap()
    }

    /// Brings a HELLO to the room, and to the client what the room sends over `own`, the transport
    /// that the client still has.
    fn greet(&mut self, link: u64, hello: &[u8], own: u64) {
        let opening = Opening::read(hello).unwrap();
        let identity = Identity::default();
        let input = Input::Join {
            link: LinkId(link),
            opening: &opening,
            identity: &identity,
            secrets: &self.secrets,
            max_datagram: 0,
        };
        self.room.handle_input(self.now, input);
        loop {
            match self.room.poll_output() {
                Output::Send { link, packet, .. } | Output::Close { link, packet, .. }
                    if link == LinkId(own) && !packet.is_empty() =>
                {
                    self.tell_client(client::Input::Packet(&packet));
                }
                Output::Timeout(_) => return,
                _ => {}
            }
        }
    }

    /// For each time that the room took the client in: whether it resumed.
    fn joins(&self) -> Vec<bool> {
        let joins = self.events.iter().filter_map(|event| match event {
            Event::Joined { resumed, .. } => Some(*resumed),
            _ => None,
        });
        joins.collect()
    }

    fn status(&self) -> Option<&Status> {
        self.events.iter().rev().find_map(|event| match event {
            Event::Status(status) => Some(status),
            _ => None,
        })
    }
}

#[test]
fn w44_a_late_hello_of_its_own_does_not_end_a_session() {
    let mut pair = Pair::new();
    let hello = pair.open();
    pair.greet(1, &hello, 1);
    assert_eq!(pair.status(), Some(&Status::Connected));
    pair.tell_client(client::Input::Closed);
    let late = pair.open();
    pair.tell_client(client::Input::Closed);
    let hello = pair.open();
    pair.greet(3, &hello, 3);
    assert_eq!(pair.status(), Some(&Status::Connected));
    pair.greet(2, &late, 3);
    pair.tell_client(client::Input::Closed);
    assert_eq!(pair.status(), Some(&Status::Reconnecting));
    let hello = pair.open();
    pair.greet(4, &hello, 4);
    assert_eq!(pair.status(), Some(&Status::Connected));
    assert_eq!(pair.joins(), [false, true, true]);

    // After that, another client has taken the session over. Two clients must not take it from each
    // other for ever.
    let copied = hello;
    pair.greet(5, &copied, 4);
    assert_eq!(pair.status(), Some(&Status::Closed));
    let fatal = |event: &Event| matches!(event, Event::Error { error, fatal: true, .. } if error.code() == Error::Replaced.code());
    assert!(pair.events.iter().any(fatal), "{:?}", pair.events);
}
