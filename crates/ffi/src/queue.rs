//! The events of a room, from the client's queue to the program.

use std::collections::VecDeque;

use groupwire_client::data::SharedData;
use groupwire_client::{self as client, Events};

use crate::convert;
use crate::error::{Code, Error};
use crate::event::{Event, GapReason, Participant, Status};
use crate::participants::{Participants, participant};

/// The events that the program has not taken, and what the taken ones said.
pub(crate) struct Queue {
    events: Events,
    /// Events of the client that were taken from it and are not converted yet.
    raw: VecDeque<client::Event>,
    /// Converted events: one of the client can be several.
    ready: VecDeque<Event>,
    pub(crate) status: Status,
    participants: Participants,
    /// The shared data of the room, by its number, with its names.
    shared: Vec<(String, SharedData)>,
    /// The number of the last own transaction that came back ordered.
    pub(crate) ordered: u32,
}

impl Queue {
    pub(crate) fn new(events: Events) -> Queue {
        Queue {
            events,
            raw: VecDeque::new(),
            ready: VecDeque::new(),
            status: Status::Connecting,
            participants: Participants::default(),
            shared: Vec::new(),
            ordered: 0,
        }
    }

    /// The next event, if there is one. While a batch of shared data is open, the events of the
    /// client wait, because an event that is passed to the data takes the batch back.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.shared.iter().any(|(_, data)| data.lock().is_batch()) {
                return None;
            }
            if self.raw.is_empty() {
                self.take_news();
                if !self.ready.is_empty() {
                    continue;
                }
                self.events.take_batch(&mut self.raw);
            }
            let event = self.raw.pop_front()?;
            self.note_own(&event);
            let is_hidden =
                self.shared.iter().fold(false, |hidden, (_, data)| data.take(&event) | hidden);
            if !is_hidden {
                self.convert(event);
            }
        }
    }

    /// Adds shared data; returns its number.
    pub(crate) fn share(&mut self, name: &str, data: SharedData) -> u32 {
        data.meet(self.participants.presences());
        self.shared.push((name.to_owned(), data));
        // There are at most as many as channels, which have a limit.
        self.shared.len() as u32 - 1
    }

    /// The number of the shared data with this name.
    pub(crate) fn shared_named(&self, name: &str) -> Option<u32> {
        (0..).zip(&self.shared).find_map(|(at, (other, _))| (other == name).then_some(at))
    }

    /// The shared data with this number.
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if it was not opened.
    pub(crate) fn shared(&self, data: u32) -> Result<SharedData, Error> {
        let found = self.shared.get(data as usize).map(|(_, found)| found.clone());
        found.ok_or_else(|| {
            let text = format!("there is no shared data {data}: open it by `shared` first");
            Error::own(Code::InvalidArgument, text)
        })
    }

    pub(crate) fn readiness(&self) -> client::Readiness {
        self.events.readiness()
    }

    pub(crate) fn participants(&self) -> Vec<Participant> {
        self.participants.list()
    }

    fn convert(&mut self, event: client::Event) {
        let event = match event {
            client::Event::Status(status) => {
                self.status = convert::status(status);
                Event::Status { status: self.status }
            }
            client::Event::Joined { participant, resumed } => {
                Event::Joined { participant: participant.get(), resumed }
            }
            client::Event::Opened { channel, qos } => {
                Event::Opened { channel: channel.0, qos: qos_of(qos), changed: false }
            }
            client::Event::Changed { channel, qos } => {
                Event::Opened { channel: channel.0, qos: qos_of(qos), changed: true }
            }
            client::Event::Closed { channel } => Event::Closed { channel: channel.0 },
            client::Event::Contract(news) => {
                Event::Contract { channel: news.channel.0, contract: news.into() }
            }
            client::Event::Message(message) => Event::Message(convert::message(message)),
            client::Event::Direct(message) => Event::Direct(convert::message(message)),
            client::Event::Receipt { channel, to, receipt } => Event::Receipt {
                channel: channel.0,
                participant: to.participant.get(),
                tag: to.tag,
                outcome: convert::outcome(receipt),
            },
            client::Event::Participants { complete, changes } => {
                return self.participants.apply(complete, changes, &mut self.ready);
            }
            client::Event::Count { count, everybody } => Event::Count { count, everybody },
            client::Event::Page { after, participants, last } => Event::Page {
                after: after.get(),
                participants: participants.into_iter().map(participant).collect(),
                last,
            },
            client::Event::Synced { channel } => {
                Event::Synced { channel: channel.map(|channel| channel.0) }
            }
            client::Event::SnapshotWanted { part, as_of } => {
                Event::SnapshotWanted { part, as_of: as_of.get() }
            }
            client::Event::Snapshot { part, as_of, bytes } => {
                Event::Snapshot { part, as_of: as_of.get(), bytes }
            }
            client::Event::Gap { reason, uncertain, missing } => {
                let reason = convert::gap_reason(reason);
                if matches!(reason, GapReason::Incarnation | GapReason::Session) {
                    self.ordered = 0;
                }
                Event::Gap {
                    reason,
                    uncertain: uncertain as u64,
                    channel: missing.map(|(channel, _)| channel.0),
                    position: missing.map_or(0, |(_, position)| position.get()),
                }
            }
            client::Event::Drain => Event::Drain,
            client::Event::Pending { count } => Event::Pending { count: count as u64 },
            client::Event::TokenWanted => Event::TokenWanted,
            client::Event::Error { error, channel, fatal } => Event::Failed {
                error: error.into(),
                channel: channel.map(|channel| channel.0),
                fatal,
            },
            // `Owner` and `Quiet`: the client itself moves to another server, and replaces a
            // transport that may be dead.
            _ => return,
        };
        self.ready.push_back(event);
    }

    /// Takes the news of all shared data, after all events that were taken from the client.
    fn take_news(&mut self) {
        for (number, (_, data)) in (0..).zip(&self.shared) {
            while let Some(news) = data.poll(&self.events) {
                self.ready.extend(convert::shared(number, news));
            }
        }
    }

    /// Notes the number of an own transaction that the room has ordered, also of one that belongs
    /// to shared data.
    fn note_own(&mut self, event: &client::Event) {
        if let client::Event::Message(message) | client::Event::Direct(message) = event
            && message.own
        {
            self.ordered = self.ordered.max(message.index.get());
        }
    }
}

fn qos_of(qos: client::Qos) -> crate::Qos {
    crate::Qos::from_client(qos)
}
