//! A script played by Groupwire: a room, its clients, and the paths between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use groupwire_session::client::{Client, Config, Event, Outgoing, Sent};
use groupwire_session::trace::{BYTE_COST, Carrier, Purpose};
use groupwire_session::{AllowAll, Room, Timing, room};

use super::channels::Channel;
use super::notes::{Arrival, NOT_TAKEN, Notes, changes, open_channels};
use super::path::{Party, Path, join, replace, wire_bytes};
use super::row::Ablation;
use super::scene::Turn;
use super::script::Script;
use crate::sim::http3::Ends;
use crate::sim::random::derive;
use crate::sim::{App, ClientNode, Network, RoomNode};

/// The time after the last message for packets that are still under way.
pub(super) const REST: Duration = Duration::from_secs(5);

/// The interval at which packet descriptions are read: the room keeps a few hundred of them.
const TRACED: Duration = Duration::from_millis(500);

/// A script and the network, server and clients that play it.
pub(super) struct Setting<'a> {
    pub(super) script: &'a Arc<Script>,
    /// The path of each participant.
    pub(super) paths: &'a [Path],
    /// Changes of the paths.
    pub(super) turns: &'a [Turn],
    pub(super) tick: Duration,
    pub(super) ablation: Ablation,
    pub(super) ends: Ends,
    /// Whether the sizes of repeats are recorded.
    pub(super) is_traced: bool,
    pub(super) seed: u64,
}

/// The outcome of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct Played {
    /// The messages that each receiver's application got, in the order of time.
    pub(super) arrivals: Vec<Vec<Arrival>>,
    /// The bytes on each participant's path, both ways.
    pub(super) wire_bytes: Vec<u64>,
    /// The bytes that each message repeated by the room took in its datagram, in ascending order.
    pub(super) repeats: Vec<f64>,
    /// Messages that the room sent in datagrams for the first time.
    pub(super) new: usize,
    /// By receiver and channel: whether an event reported that the contract is not kept.
    pub(super) told: Vec<Vec<bool>>,
    /// By receiver and channel: the time of the first such event, if there was one.
    pub(super) told_at: Vec<Vec<Option<Duration>>>,
    /// The first delivery that was wrong: a message that nobody sent, or a transaction that came
    /// twice or out of order.
    pub(super) wrong: Option<String>,
    /// The first failure of a connection, such as a gap or a message that was not taken.
    pub(super) failure: Option<String>,
}

/// Plays a script in simulated time.
pub(super) fn play(setting: &Setting<'_>) -> Played {
    let timing = Timing { tick: setting.tick, ..Timing::default() };
    let config = room::Config {
        timing,
        compress: setting.ablation != Ablation::NoGmc,
        redundancy: setting.ablation.redundancy(),
        ..room::Config::new("contract", 1)
    };
    let mut room = Room::new(config, Box::new(AllowAll));
    room.set_tracing(setting.is_traced);
    let mut network = Network::new();
    network.add(Party::Server(Box::new(RoomNode::new(room, setting.seed).with_ends(setting.ends))));
    for (who, path) in setting.paths.iter().enumerate() {
        let (client, person) = person(setting, who);
        let node = ClientNode::new(0, path.lane, client, person).with_ends(setting.ends);
        network.add(Party::Person(Box::new(node)));
    }
    join(&mut network, setting.paths, setting.seed);
    let mut played = Played::default();
    let mut carried = vec![0; setting.paths.len()];
    let mut turns = setting.turns.iter().peekable();
    let end = setting.script.end + REST;
    while network.now() < end {
        let step = if setting.is_traced { TRACED } else { end };
        let turn = turns.peek().map_or(end, |turn| turn.at);
        network.run_until(end.min(network.now() + step).min(turn.max(network.now())));
        if let Party::Server(node) = network.node_mut(0) {
            played.note_repeats(node.room_mut());
        }
        while let Some(turn) = turns.next_if(|turn| turn.at <= network.now()) {
            // The counters of a new link begin at 0.
            carried[turn.who] += wire_bytes(&network, setting.paths)[turn.who];
            replace(
                &mut network,
                turn.who,
                &turn.path,
                derive(setting.seed, turn.at.as_millis() as u64),
            );
        }
    }
    let last = wire_bytes(&network, setting.paths);
    let wire_bytes = carried.iter().zip(last).map(|(before, last)| before + last).collect();
    played.repeats.sort_by(f64::total_cmp);
    let people = || {
        (1..=setting.paths.len()).filter_map(|node| match network.node(node) {
            Party::Person(person) => Some(&person.app().notes),
            Party::Server(_) => None,
        })
    };
    Played {
        arrivals: people().map(|person| person.arrivals.clone()).collect(),
        wire_bytes,
        told: people().map(|person| person.told.clone()).collect(),
        told_at: people().map(|person| person.told_at.clone()).collect(),
        wrong: people().find_map(|person| person.wrong.clone()),
        failure: people().find_map(|person| person.failure.clone()),
        ..played
    }
}

impl Played {
    /// The median of the bytes that a repeat takes in a datagram; `None` if there were no repeats.
    pub(super) fn repeat_bytes(&self) -> Option<f64> {
        self.repeats.get(self.repeats.len() / 2).copied()
    }

    fn note_repeats(&mut self, room: &mut Room) {
        let packets = room.traced();
        let parts =
            packets.iter().filter(|one| one.is_outgoing && one.carrier == Carrier::Datagrams);
        for part in parts.flat_map(|packet| &packet.parts) {
            match (part.purpose, part.cost) {
                (Purpose::New, _) => self.new += 1,
                (Purpose::Repeated, Some(cost)) => {
                    self.repeats.push(f64::from(cost) / f64::from(BYTE_COST));
                }
                _ => {}
            }
        }
    }
}

fn person(setting: &Setting<'_>, who: usize) -> (Client, Person) {
    let config = Config {
        seed: who as u64 + 1,
        compress: setting.ablation != Ablation::NoGmc,
        redundancy: setting.ablation.redundancy(),
        ..Config::new("contract")
    };
    let mut client = Client::new(Duration::ZERO, config).expect("names are short");
    let open =
        |channel: &Channel| client.channel(channel.wire, channel.qos).expect("each QoS is sound");
    let channels = open_channels(setting.script, open);
    let notes = Notes::new(setting.script, who, channels);
    (client, Person { notes, next: 0, changes: changes(setting.script, who) })
}

/// A participant's application: it sends what the script says and notes what comes.
struct Person {
    notes: Notes,
    /// The index of the next action.
    next: usize,
    /// The changes of QoS: the time, and the index of the channel in the script with the new one.
    changes: VecDeque<(Duration, usize)>,
}

impl App for Person {
    fn event(&mut self, now: Duration, _: &mut Client, event: Event) {
        self.notes.event(now, event);
    }

    fn act(&mut self, now: Duration, client: &mut Client) -> Option<Duration> {
        let script = Arc::clone(&self.notes.script);
        let actions = &script.actions[self.notes.who];
        while let Some(&(_, place)) = self.changes.front().filter(|(at, _)| *at <= now) {
            self.changes.pop_front();
            let qos = script.channels[place].qos;
            if let Err(error) = client.set_qos(self.notes.channels[place], qos) {
                self.notes.fail(now, &error.to_string());
            }
        }
        while let Some(action) = actions.get(self.next).filter(|action| action.at <= now) {
            self.next += 1;
            let key = script.key(action);
            let message = Outgoing {
                bytes: &action.bytes,
                text: script.channels[action.channel].is_text,
                key: key.as_ref().map(|key| &key[..]),
                ..Outgoing::default()
            };
            match client.send(now, self.notes.channels[action.channel], message) {
                Ok(Sent::NotNow) => self.notes.fail(now, NOT_TAKEN),
                Ok(_) => {}
                Err(error) => self.notes.fail(now, &error.to_string()),
            }
        }
        let change = self.changes.front().map(|(at, _)| *at);
        [actions.get(self.next).map(|action| action.at), change].into_iter().flatten().min()
    }
}
