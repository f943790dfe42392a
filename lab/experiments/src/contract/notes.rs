//! The observations of a participant's application, over any network.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::client::{ChannelId, Event};
use groupwire_session::{ContractState, Position};

use super::channels::Channel;
use super::script::Script;

/// The note about a message for which the send queue had no room.
pub(super) const NOT_TAKEN: &str = "a message was not taken";

/// A message that came to an application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    /// The sender, and the number of the message among the sender's messages.
    pub(super) message: (usize, usize),
}

/// The observations of a participant's application.
#[derive(Debug, Clone)]
pub(super) struct Notes {
    pub(super) script: Arc<Script>,
    pub(super) who: usize,
    /// The channels, by their index in the script.
    pub(super) channels: Vec<ChannelId>,
    /// For each channel, whether an event reported that its contract is not kept.
    pub(super) told: Vec<bool>,
    /// For each channel, the time of the first such event. Pages in a browser do not record it.
    pub(super) told_at: Vec<Option<Duration>>,
    /// The position of the last transaction that came.
    position: Position,
    pub(super) arrivals: Vec<Arrival>,
    /// The first delivery that was wrong.
    pub(super) wrong: Option<String>,
    /// The first failure of the connection.
    pub(super) failure: Option<String>,
}

impl Notes {
    pub(super) fn new(script: &Arc<Script>, who: usize, channels: Vec<ChannelId>) -> Self {
        Notes {
            script: Arc::clone(script),
            who,
            told: vec![false; script.channels.len()],
            told_at: vec![None; script.channels.len()],
            channels,
            position: Position(0),
            arrivals: Vec::new(),
            wrong: None,
            failure: None,
        }
    }

    /// Notes a failure of this participant's connection.
    pub(super) fn fail(&mut self, now: Duration, why: &str) {
        self.failure.get_or_insert_with(|| format!("participant {} at {now:?}: {why}", self.who));
    }

    pub(super) fn event(&mut self, now: Duration, event: Event) {
        match event {
            Event::Message(message) => {
                if message.position > Position(0) {
                    if message.position <= self.position {
                        self.object(now, "a transaction came twice, or out of order");
                    }
                    self.position = message.position;
                }
                match self.script.find(&message.bytes) {
                    Some((who, _)) if who == self.who => {}
                    Some(message) => self.arrivals.push(Arrival { at: now, message }),
                    None if message.own => {}
                    None => self.object(now, "what came was never sent"),
                }
            }
            Event::Contract(news) if news.state != ContractState::Met => {
                let told = self.told.iter_mut().zip(&mut self.told_at);
                let places = self.channels.iter().zip(told);
                for (_, (told, at)) in places.filter(|(id, _)| **id == news.channel) {
                    *told = true;
                    at.get_or_insert(now);
                }
            }
            Event::Error { error, .. } => self.fail(now, &error.to_string()),
            Event::Gap { reason, .. } => self.fail(now, &format!("a gap: {reason:?}")),
            _ => {}
        }
    }

    /// Notes a delivery that was wrong.
    pub(super) fn object(&mut self, now: Duration, why: &str) {
        self.wrong.get_or_insert_with(|| format!("participant {} at {now:?}: {why}", self.who));
    }
}

/// Opens each channel of a script once; returns the channels by index. Two indices may be one
/// channel.
pub(super) fn open_channels<T: Clone>(
    script: &Script,
    mut open: impl FnMut(&Channel) -> T,
) -> Vec<T> {
    let mut by_name = BTreeMap::new();
    let channels = script.channels.iter();
    channels.map(|one| by_name.entry(one.wire).or_insert_with(|| open(one)).clone()).collect()
}

/// The first participant's changes of QoS when people begin to talk, and when they stop.
pub(super) fn changes(script: &Script, who: usize) -> VecDeque<(Duration, usize)> {
    let of_two = |(place, channel): (usize, &Channel)| {
        let first = script.channels.iter().position(|other| other.wire == channel.wire)?;
        (first < place).then_some((first, place))
    };
    let pair = script.channels.iter().enumerate().find_map(of_two).filter(|_| who == 0);
    let talks = script
        .talks()
        .map(|(at, talk)| Some((at, pair.map(|pair| if talk { pair.1 } else { pair.0 })?)));
    talks.flatten().collect()
}
