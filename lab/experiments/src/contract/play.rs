//! A script played by Groupwire: a room, its clients, and the paths between.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use groupwire_session::client::{ChannelId, Client, Config, Event, Outgoing, Sent};
use groupwire_session::trace::{BYTE_COST, Carrier, Purpose};
use groupwire_session::{AllowAll, ContractState, Kind, Position, Room, Timing, room};

use super::channels::Channel;
use super::path::{Path, join, wire_bytes};
use super::row::Ablation;
use super::script::Script;
use crate::sim::http3::Ends;
use crate::sim::{App, ClientNode, Network, Node, RoomNode};

/// After the last message, for what is still under way.
const REST: Duration = Duration::from_secs(5);

/// Between two looks at what packets were made of: the room remembers a few hundred of them.
const TRACED: Duration = Duration::from_millis(500);

/// What is played.
pub(super) struct Setting<'a> {
    pub(super) script: &'a Rc<Script>,
    /// Of each participant.
    pub(super) paths: &'a [Path],
    pub(super) tick: Duration,
    pub(super) ablation: Ablation,
    pub(super) ends: Ends,
    /// Whether it is noted what repeats take.
    pub(super) is_traced: bool,
    pub(super) seed: u64,
}

/// A message that came to an application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    /// Whose, and the how manieth of theirs.
    pub(super) message: (usize, usize),
}

/// What became of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct Played {
    /// By receiver, in the order of time.
    pub(super) arrivals: Vec<Vec<Arrival>>,
    /// Of each participant's path, both ways.
    pub(super) wire_bytes: Vec<u64>,
    /// What each message that the room repeated took in its datagram, in bytes, in order.
    pub(super) repeats: Vec<f64>,
    /// Messages in datagrams of the room for the first time.
    pub(super) new: usize,
    /// By receiver and channel: whether the application was told of a contract that is not kept.
    pub(super) told: Vec<Vec<bool>>,
    /// The first delivery that was wrong: a message that nobody sent, or a transaction that came twice or out of order.
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
    network.add(Party::Room(Box::new(RoomNode::new(room, setting.seed).with_ends(setting.ends))));
    for (who, path) in setting.paths.iter().enumerate() {
        let (client, person) = person(setting, who);
        let node = ClientNode::new(0, path.lane, client, person).with_ends(setting.ends);
        network.add(Party::Person(Box::new(node)));
    }
    join(&mut network, setting.paths, setting.seed);
    let mut played = Played::default();
    let end = setting.script.end + REST;
    while network.now() < end {
        let step = if setting.is_traced { TRACED } else { end };
        network.run_until(end.min(network.now() + step));
        if let Party::Room(node) = network.node_mut(0) {
            played.note_repeats(node.room_mut());
        }
    }
    played.repeats.sort_by(f64::total_cmp);
    let people = || {
        (1..=setting.paths.len()).filter_map(|node| match network.node(node) {
            Party::Person(person) => Some(person.app()),
            Party::Room(_) => None,
        })
    };
    Played {
        arrivals: people().map(|person| person.arrivals.clone()).collect(),
        wire_bytes: wire_bytes(&network, setting.paths),
        told: people().map(|person| person.told.clone()).collect(),
        wrong: people().find_map(|person| person.wrong.clone()),
        failure: people().find_map(|person| person.failure.clone()),
        ..played
    }
}

impl Played {
    /// What a repeat takes in a datagram, in the median, if there were any.
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
    let mut by_name = BTreeMap::new();
    let channels = setting.script.channels.iter().map(|channel| {
        *by_name.entry(channel.wire).or_insert_with(|| {
            client.channel(channel.wire, channel.qos).expect("each QoS is sound")
        })
    });
    let channels: Vec<_> = channels.collect();
    let person = Person {
        script: Rc::clone(setting.script),
        who,
        told: vec![false; channels.len()],
        channels,
        next: 0,
        changes: changes(setting.script, who),
        position: Position(0),
        arrivals: Vec::new(),
        wrong: None,
        failure: None,
    };
    (client, person)
}

/// The first participant changes what a channel promises when people begin to talk, and when they stop.
fn changes(script: &Script, who: usize) -> VecDeque<(Duration, usize)> {
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

/// Either kind of node.
enum Party {
    Room(Box<RoomNode>),
    Person(Box<ClientNode<Person>>),
}

impl Node for Party {
    fn receive(&mut self, now: Duration, from: usize, packet: &[u8]) {
        match self {
            Party::Room(node) => node.receive(now, from, packet),
            Party::Person(node) => node.receive(now, from, packet),
        }
    }

    fn poll(&mut self, now: Duration, send: &mut dyn FnMut(usize, &[u8])) -> Option<Duration> {
        match self {
            Party::Room(node) => node.poll(now, send),
            Party::Person(node) => node.poll(now, send),
        }
    }
}

/// A participant's application: it sends what the script says and notes what comes.
struct Person {
    script: Rc<Script>,
    who: usize,
    /// By their places in the script.
    channels: Vec<ChannelId>,
    /// Of each: whether there was news that it is not kept.
    told: Vec<bool>,
    /// The next action.
    next: usize,
    /// When a channel is to promise what another place of the script says.
    changes: VecDeque<(Duration, usize)>,
    /// Of the last transaction that came.
    position: Position,
    arrivals: Vec<Arrival>,
    wrong: Option<String>,
    failure: Option<String>,
}

impl Person {
    /// Notes a delivery that was wrong.
    fn object(&mut self, now: Duration, why: &str) {
        self.wrong.get_or_insert_with(|| format!("participant {} at {now:?}: {why}", self.who));
    }

    /// Notes a failure of this participant's connection.
    fn fail(&mut self, now: Duration, why: &str) {
        self.failure.get_or_insert_with(|| format!("participant {} at {now:?}: {why}", self.who));
    }
}

impl App for Person {
    fn event(&mut self, now: Duration, _: &mut Client, event: Event) {
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
                let places = self.channels.iter().zip(&mut self.told);
                places.filter(|(id, _)| **id == news.channel).for_each(|(_, told)| *told = true);
            }
            Event::Error { error, .. } => self.fail(now, &error.to_string()),
            Event::Gap { reason, .. } => self.fail(now, &format!("a gap: {reason:?}")),
            _ => {}
        }
    }

    fn act(&mut self, now: Duration, client: &mut Client) -> Option<Duration> {
        let script = Rc::clone(&self.script);
        let actions = &script.actions[self.who];
        while let Some(&(_, place)) = self.changes.front().filter(|(at, _)| *at <= now) {
            self.changes.pop_front();
            if let Err(error) = client.set_qos(self.channels[place], script.channels[place].qos) {
                self.fail(now, &error.to_string());
            }
        }
        while let Some(action) = actions.get(self.next).filter(|action| action.at <= now) {
            self.next += 1;
            let is_keyed = script.channels[action.channel].qos.kind == Kind::Awareness;
            let key = action.key.to_le_bytes();
            let key = (is_keyed && action.key > 0).then_some(&key[..1]);
            let message = Outgoing { bytes: &action.bytes, text: true, key, ..Outgoing::default() };
            match client.send(now, self.channels[action.channel], message) {
                Ok(Sent::NotNow) => self.fail(now, "a message was not taken"),
                Ok(_) => {}
                Err(error) => self.fail(now, &error.to_string()),
            }
        }
        let change = self.changes.front().map(|(at, _)| *at);
        [actions.get(self.next).map(|action| action.at), change].into_iter().flatten().min()
    }
}
