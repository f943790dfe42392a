//! The state of a simulation: the server, the networks, and what will happen. The testing kit for
//! TypeScript has the same model (`web/client/src/testing/server.ts` and `transport.ts`).

mod hosting;
mod network;

use std::collections::BTreeMap;
use std::time::Duration;

use groupwire_session::room::Input;
use groupwire_session::{Identity, LinkId};

use crate::clients::connection::{Connection, Number};
use crate::clients::log::Log;
use crate::clients::path::{Conditions, Path, Way};
use crate::clients::random::Random;
use crate::clients::server::{Server, Settings};

/// The end of time: the last one that is a number of nanoseconds of 64 bits.
const LAST: Duration = Duration::from_nanos(u64::MAX);

/// What happens at a time.
pub(crate) type Happening = Box<dyn FnOnce(&mut State) + Send>;

/// Decides who may join, by the token: returns the identity, or why not. It must not use the
/// simulation, which waits for it.
pub type Identify = Box<dyn Fn(&str) -> Result<Identity, String> + Send>;

pub(crate) struct State {
    pub(crate) now: Duration,
    /// By time, and for one time in the order in which they were planned.
    queue: BTreeMap<(Duration, u64), Happening>,
    planned: u64,
    pub(crate) random: Random,
    identify: Option<Identify>,
    server: Server,
    members: Vec<Member>,
    connections: BTreeMap<Number, Connection>,
    opened: Number,
    /// When something happened last for which a test that settles waits.
    pub(crate) last_stir: Duration,
    last_activity: u64,
    pub(crate) log: Log,
}

/// A participant, and its network.
struct Member {
    name: String,
    room: String,
    path: Path,
    has_datagrams: bool,
    /// Stated by the test, so that nobody is asked.
    identity: Option<Identity>,
    /// Stream data that arrives when the network returns.
    held: Vec<(Way, Held)>,
}

#[derive(Clone, Copy)]
enum Held {
    Opening(Number),
    Packet(Number),
}

impl State {
    pub(crate) fn new(seed: u64, settings: Settings, identify: Option<Identify>) -> State {
        State {
            now: Duration::ZERO,
            queue: BTreeMap::new(),
            planned: 0,
            random: Random::new(seed),
            identify,
            server: Server::new(settings),
            members: Vec::new(),
            connections: BTreeMap::new(),
            opened: 0,
            last_stir: Duration::ZERO,
            last_activity: 0,
            log: Log::default(),
        }
    }

    // Time.

    pub(crate) fn plan(
        &mut self,
        at: Duration,
        happening: impl FnOnce(&mut State) + Send + 'static,
    ) {
        self.planned += 1;
        let at = at.clamp(self.now, LAST);
        self.queue.insert((at, self.planned), Box::new(happening));
    }

    /// The time of the next happening.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.queue.keys().next().map(|(at, _)| *at)
    }

    /// Lets the next thing happen.
    pub(crate) fn step(&mut self) {
        if let Some(((at, _), happening)) = self.queue.pop_first() {
            self.now = at;
            happening(self);
        }
    }

    pub(crate) fn stir(&mut self) {
        self.last_stir = self.now;
    }

    pub(crate) fn note(&mut self, text: String) {
        self.log.add(self.now, text);
    }

    // Participants.

    pub(crate) fn add_member(
        &mut self,
        name: Option<String>,
        room: &str,
        conditions: &Conditions,
        has_datagrams: bool,
        identity: Option<Identity>,
    ) -> usize {
        let number = self.members.len();
        let name = name.unwrap_or_else(|| name_at(number));
        self.note(format!("{name} joins the room {room:?}"));
        let (room, path) = (room.to_owned(), Path::new(conditions));
        self.members.push(Member { name, room, path, has_datagrams, identity, held: Vec::new() });
        number
    }

    /// Changes a participant's network.
    pub(crate) fn change(&mut self, member: usize, conditions: &Conditions) {
        self.note(format!("the network of {} changes", self.members[member].name));
        self.members[member].path.change(conditions);
    }

    /// Cuts a participant off for a time; [`Duration::MAX`] stands for until `heal`.
    pub(crate) fn cut(&mut self, member: usize, time: Duration) {
        let until = self.now.saturating_add(time);
        let Member { name, path, .. } = &mut self.members[member];
        path.cut_until = Some(until);
        let text = format!("{name} is cut off from the network");
        self.note(text);
        if until < Duration::MAX {
            self.plan(until, move |state| {
                if state.members[member].path.cut_until == Some(until) {
                    state.heal(member);
                }
            });
        }
    }

    /// Ends a cut: stream data that has waited arrives.
    pub(crate) fn heal(&mut self, member: usize) {
        if self.members[member].path.cut_until.is_none() {
            return;
        }
        let text = format!("{} has its network again", self.members[member].name);
        self.note(text);
        self.stir();
        let Member { path, held, .. } = &mut self.members[member];
        path.heal(self.now, &mut self.random);
        let held = std::mem::take(held);
        for (way, held) in held {
            let at = self.members[member].path.not_before(way);
            self.plan(at, move |state| state.arrive(member, way, held));
        }
    }

    /// Breaks the connections of a participant: both ends notice at once, and what is under way is
    /// lost.
    pub(crate) fn break_connections(&mut self, member: usize) {
        let text = format!("the connection of {} breaks", self.members[member].name);
        self.note(text);
        for number in self.connections_of(member) {
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            if !std::mem::replace(&mut connection.is_broken, true) {
                self.close_server(number);
                self.close_client(number);
            }
        }
    }

    /// Asks a participant for another token, as when its token expires soon.
    pub(crate) fn expire_token(&mut self, member: usize) {
        for number in self.connections_of(member) {
            self.input(number, Input::TokenWanted { link: link(number) });
        }
    }

    /// Why it has not settled: what of the networks and the server is under way.
    pub(crate) fn unsettled(&mut self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (number, Member { name, path, .. }) in self.members.iter().enumerate() {
            if path.cut_until == Some(Duration::MAX) {
                continue;
            }
            let mut own = self.connections.values().filter(|one| one.member == number);
            if own.any(Connection::is_busy) {
                reasons.push(format!("packets of {name} are under way"));
            }
            if path.cut_until.is_some() {
                reasons.push(format!("{name} is cut off from the network"));
            }
        }
        if !self.server.is_up {
            reasons.push("the server is down".to_owned());
        }
        if self.server.is_storing() {
            reasons.push("the server is storing".to_owned());
        }
        let activity = self.server.activity();
        if std::mem::replace(&mut self.last_activity, activity) != activity {
            self.stir();
            reasons.push("messages were sent".to_owned());
        }
        reasons
    }

    fn connections_of(&self, member: usize) -> Vec<Number> {
        let own = self.connections.iter().filter(|(_, one)| one.member == member);
        own.map(|(number, _)| *number).collect()
    }

    fn name_of(&self, number: Number) -> &str {
        let member = self.connections.get(&number).map(|one| one.member);
        member.map_or("somebody", |member| &self.members[member].name)
    }
}

fn link(number: Number) -> LinkId {
    LinkId(number.into())
}

fn number(link: LinkId) -> Number {
    link.get() as Number
}

/// a, b, …, z, then p27 and so on.
fn name_at(index: usize) -> String {
    match u8::try_from(index) {
        Ok(letter @ 0..26) => char::from(b'a' + letter).to_string(),
        _ => format!("p{}", index + 1),
    }
}
