//! One person in a room, for tests that look at every step.

use std::time::Duration;

use groupwire_client::{Channel, Event, Events, Options, Qos, Room, SendOptions, Status};
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine; a test that hangs ends by this.
pub(super) const FOREVER: Duration = Duration::from_secs(120);

pub(crate) struct Visitor {
    room: Room,
    lines: Channel,
    hints: Channel,
    events: Events,
    /// The participant numbers of the visitor: one, unless its session was lost.
    pub(crate) numbers: Vec<u32>,
    /// The lines that it was told, with their positions.
    pub(super) told: Vec<(u64, String)>,
    pub(crate) own: usize,
    pub(super) hinted: usize,
    /// The number of joins and resumes.
    pub(crate) joins: usize,
    pub(crate) gaps: usize,
    /// The snapshots that it uploaded.
    pub(super) snapshots: usize,
    is_away: bool,
}

impl Visitor {
    /// Joins a room.
    pub(crate) async fn join(url: &str, room: &str) -> Self {
        let (room, events) = Room::connect(url, Options::new(room)).unwrap();
        let lines = room.channel("lines", Qos::transaction()).unwrap();
        room.provide("lines", &[&lines]).unwrap();
        let hints = room.channel("hints", Qos::awareness()).unwrap();
        let (numbers, told) = (Vec::new(), Vec::new());
        let mut visitor = Visitor {
            room,
            lines,
            hints,
            events,
            numbers,
            told,
            own: 0,
            hinted: 0,
            joins: 0,
            gaps: 0,
            snapshots: 0,
            is_away: true,
        };
        visitor.until(|visitor| !visitor.is_away).await;
        visitor
    }

    /// Sends a transaction.
    pub(crate) fn say(&self, line: &str) {
        self.lines.send(line, SendOptions::default()).unwrap();
    }

    /// Sends a transaction on another channel, which it opens.
    pub(super) fn say_on(&self, channel: &str, line: &str) {
        let channel = self.room.channel(channel, Qos::transaction()).unwrap();
        channel.send(line, SendOptions::default()).unwrap();
    }

    /// Sends awareness.
    pub(super) fn hint(&self) {
        self.hints.send("here", SendOptions::default()).unwrap();
    }

    /// Waits for further events until this holds.
    pub(crate) async fn until(&mut self, is_enough: impl Fn(&Self) -> bool) {
        let enough = async {
            while !is_enough(self) {
                let event = self.events.next().await.expect("the session goes on");
                self.note(event);
            }
        };
        timeout(FOREVER, enough).await.expect("what is waited for");
    }

    /// Waits until it was told of this many lines, and returns them.
    pub(crate) async fn hear(&mut self, count: usize) -> Vec<&str> {
        self.until(|visitor| visitor.told.len() >= count).await;
        self.told.iter().map(|(_, line)| line.as_str()).collect()
    }

    /// True if it was told of the line.
    pub(crate) fn has_heard(&self, line: &str) -> bool {
        self.told.iter().any(|(_, told)| told == line)
    }

    /// Waits until the client notices that the server is away, and then until the server is back.
    pub(super) async fn come_back(&mut self) {
        self.until(|visitor| visitor.is_away).await;
        self.until(|visitor| !visitor.is_away).await;
    }

    /// True if there is no connection.
    pub(crate) fn is_away(&self) -> bool {
        self.is_away
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Message(message) if message.channel == self.hints.id() => self.hinted += 1,
            Event::Message(message) if message.channel == self.lines.id() => {
                self.own += usize::from(message.own);
                let line = String::from_utf8(message.bytes).unwrap();
                self.told.push((message.position.get(), line));
            }
            Event::Joined { participant, .. } => {
                self.is_away = false;
                self.joins += 1;
                self.numbers.push(participant.get());
                self.numbers.dedup();
            }
            Event::Status(Status::Reconnecting) => self.is_away = true,
            // The lines are its snapshot.
            Event::SnapshotWanted { part, as_of } => {
                let lines: Vec<&str> = self.told.iter().map(|(_, line)| line.as_str()).collect();
                self.room.snapshot(&part, as_of, lines.join("\n").as_bytes()).unwrap();
                self.snapshots += 1;
            }
            Event::Snapshot { as_of, bytes, .. } => {
                let lines = String::from_utf8(bytes).unwrap();
                self.told = lines.lines().map(|line| (as_of.get(), line.to_owned())).collect();
            }
            Event::Gap { .. } => self.gaps += 1,
            Event::Error { error, fatal: true, .. } => panic!("{error}"),
            _ => {}
        }
    }
}
