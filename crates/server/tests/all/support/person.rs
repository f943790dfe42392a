//! The session core over a transport, driven by the test.

use std::time::{Duration, Instant};

use groupwire_server::session::client::{
    Client, Config as ClientConfig, Event, Input, Outgoing, Output, Status,
};
use groupwire_server::session::{ParticipantId, Qos};
use tokio::time::timeout;

use super::PATIENCE;
use super::wire::Wire;

pub(crate) struct Person {
    client: Client,
    wire: Wire,
    origin: Instant,
    pub(crate) events: Vec<Event>,
    /// What it answers when it is asked for its part of the snapshot.
    state: Option<String>,
    /// All messages so far, own ones included: sender and text.
    pub(crate) messages: Vec<(ParticipantId, String)>,
}

impl Person {
    /// Joins the room over an open transport. The session is not resumed if the transport breaks.
    pub(crate) async fn join(wire: Wire, room: &str) -> Self {
        let mut person = Person::ask(wire, ClientConfig::new(room));
        person.until(|event| matches!(event, Event::Synced { channel: None })).await;
        person
    }

    /// Asks to join over an open transport. The caller waits for the answer.
    pub(crate) fn ask(wire: Wire, config: ClientConfig) -> Self {
        let client = Client::new(Duration::ZERO, config).unwrap();
        let origin = Instant::now();
        let (events, messages, state) = (Vec::new(), Vec::new(), None);
        let mut person = Person { client, wire, origin, events, state, messages };
        person.client.channel("draw", Qos::transaction()).unwrap();
        person
    }

    /// The transport is closed, and the client resumes over this one.
    pub(crate) async fn resume(&mut self, wire: Wire) {
        self.wire = wire;
        self.client.handle_input(self.origin.elapsed(), Input::Closed);
        self.until(|event| matches!(event, Event::Status(Status::Reconnecting))).await;
    }

    /// The transport breaks, and the client does not know it yet.
    pub(crate) fn lose_transport(&mut self) {
        self.wire = Wire::broken();
    }

    /// Leaves for good, and waits until the server has closed the transport.
    pub(crate) async fn leave(mut self) {
        self.client.leave();
        self.drive().await;
        while self.for_a_while(Duration::from_secs(1)).await {}
    }

    /// Gives the client another token.
    pub(crate) async fn set_token(&mut self, token: &str) {
        self.client.set_token(token.as_bytes()).unwrap();
        self.drive().await;
    }

    pub(crate) async fn send(&mut self, text: &str) {
        let channel = self.client.channel("draw", Qos::transaction()).unwrap();
        let message = Outgoing { bytes: text.as_bytes(), text: true, ..Outgoing::default() };
        self.client.send(self.origin.elapsed(), channel, message).unwrap();
        self.drive().await;
    }

    /// Provides the part `draw` of the snapshot, always with this content.
    pub(crate) async fn provide(&mut self, state: &str) {
        let channel = self.client.channel("draw", Qos::transaction()).unwrap();
        self.state = Some(state.to_owned());
        self.client.provide("draw", &[channel]).unwrap();
        self.drive().await;
    }

    /// Asks for another QoS of the channel `draw`.
    pub(crate) async fn set_qos(&mut self, qos: Qos) {
        let channel = self.client.channel("draw", Qos::transaction()).unwrap();
        self.client.set_qos(channel, qos).unwrap();
        self.drive().await;
    }

    /// The number of own transactions that are not ordered yet.
    pub(crate) fn pending(&self) -> usize {
        self.client.pending()
    }

    /// Waits for an event.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.drive().await;
            if let Some(at) = self.events.iter().position(&wanted) {
                return self.events.drain(..=at).next_back().unwrap();
            }
            assert!(Instant::now() < deadline, "{:?}", self.events);
            assert!(self.handle_next(Duration::from_millis(50)).await, "closed: {:?}", self.events);
        }
    }

    /// Waits until `count` messages have arrived in all.
    pub(crate) async fn receive(&mut self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        self.drive().await;
        while self.messages.len() < count {
            assert!(Instant::now() < deadline, "{} of {count}", self.messages.len());
            assert!(self.handle_next(Duration::from_millis(50)).await, "closed: {:?}", self.events);
        }
    }

    /// Waits until all own transactions are confirmed.
    pub(crate) async fn confirmed(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.pending() > 0 {
            assert!(Instant::now() < deadline, "{} pending", self.pending());
            assert!(self.handle_next(Duration::from_millis(50)).await, "closed: {:?}", self.events);
        }
    }

    /// Handles what arrives within `time`. Returns false if the transport is closed.
    pub(crate) async fn for_a_while(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            if !self.handle_next(left).await {
                return false;
            }
        }
    }

    async fn handle_next(&mut self, wait: Duration) -> bool {
        let came = timeout(wait, self.wire.incoming.recv()).await;
        let now = self.origin.elapsed();
        match came {
            Ok(Some(packet)) => self.client.handle_input(now, Input::Packet(&packet)),
            Ok(None) => return false,
            Err(_) => self.client.handle_input(now, Input::Timeout),
        }
        self.drive().await;
        true
    }

    async fn drive(&mut self) {
        loop {
            let now = self.origin.elapsed();
            match self.client.poll_output(now) {
                Output::Dial => self.client.handle_input(now, Input::Opened { max_datagram: 0 }),
                Output::Datagram(_) => panic!("no datagrams here"),
                Output::Send(packet) => {
                    let _ = timeout(PATIENCE, self.wire.outgoing.send(packet)).await.unwrap();
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Event(Event::Message(message)) => {
                    self.messages.push((message.sender, String::from_utf8(message.bytes).unwrap()));
                    assert_eq!(
                        message.position.get(),
                        self.messages.len() as u64,
                        "in order, once"
                    );
                }
                Output::Event(Event::SnapshotWanted { part, as_of }) if self.state.is_some() => {
                    let state = self.state.clone().unwrap();
                    self.client.snapshot(&part, as_of, state.as_bytes()).unwrap();
                }
                Output::Event(event) => self.events.push(event),
                Output::Hangup | Output::Timeout(_) => return,
            }
        }
    }
}
