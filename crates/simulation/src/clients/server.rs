//! The server: its rooms and their stores.

use std::collections::BTreeSet;
use std::time::Duration;

use groupwire_client::Durability;
use groupwire_session::room::Config;

use crate::room::{SimulatedRoom, config};

/// The settings of the server. What is `None` is as on a server without options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Where rooms are stored. In memory a server that is killed loses them.
    pub durability: Durability,
    /// How often the room sends.
    pub tick: Option<Duration>,
    /// After this time without a sign of life a participant is away.
    pub away: Option<Duration>,
    /// A snapshot is asked for after this number of transactions.
    pub snapshot_after: Option<usize>,
    /// Most bytes of transactions that a room keeps.
    pub max_log_bytes: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        let durability = Durability::Memory;
        let (tick, away, snapshot_after, max_log_bytes) = (None, None, None, None);
        Settings { durability, tick, away, snapshot_after, max_log_bytes }
    }
}

/// How a server restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// The time until the new server accepts connections.
    pub down_for: Duration,
    /// Whether stored rooms are still there. Rooms in memory never are.
    pub keeps_state: bool,
    /// The server says goodbye and stores everything, as `groupwire serve` does when it is stopped.
    /// Otherwise it is killed.
    pub goodbye: bool,
}

impl Default for Restart {
    fn default() -> Self {
        Restart { down_for: Duration::ZERO, keeps_state: true, goodbye: false }
    }
}

/// All rooms. Each has an index, which stays.
pub(crate) struct Server {
    settings: Settings,
    rooms: Vec<Hosted>,
    incarnations: u32,
    pub(crate) is_up: bool,
    /// Counts the servers, so that only the last one of several restarts takes connections.
    pub(crate) life: u32,
}

/// One room of the server.
pub(crate) struct Hosted {
    pub(crate) name: String,
    /// `None` while its outputs are carried out.
    pub(crate) core: Option<SimulatedRoom>,
    /// The connections whose first packet the room has.
    pub(crate) links: BTreeSet<u32>,
    /// Counts the timers that were set: only the last one counts.
    pub(crate) timer: u64,
    /// When the change that was made last becomes durable.
    pub(crate) last_commit: Duration,
    pub(crate) is_dead: bool,
    /// Counts the servers, so that a commit of a killed one is not reported to the next.
    pub(crate) life: u32,
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Server {
        Server { settings, rooms: Vec::new(), incarnations: 0, is_up: true, life: 0 }
    }

    /// The index of the room with this name.
    pub(crate) fn room_named(&mut self, name: &str) -> usize {
        if let Some(at) = self.rooms.iter().position(|room| room.name == name) {
            return at;
        }
        let mut config = config(name, self.next_incarnation());
        self.settings.apply(&mut config);
        self.rooms.push(Hosted {
            name: name.to_owned(),
            core: Some(SimulatedRoom::new(config)),
            links: BTreeSet::new(),
            timer: 0,
            last_commit: Duration::ZERO,
            is_dead: false,
            life: 0,
        });
        self.rooms.len() - 1
    }

    pub(crate) fn next_incarnation(&mut self) -> u32 {
        self.incarnations += 1;
        self.incarnations
    }

    pub(crate) fn room(&mut self, at: usize) -> &mut Hosted {
        &mut self.rooms[at]
    }

    /// The number of rooms.
    pub(crate) fn count(&self) -> usize {
        self.rooms.len()
    }

    /// Grows with each message that a room takes or sends.
    pub(crate) fn activity(&self) -> u64 {
        self.cores().map(SimulatedRoom::activity).sum()
    }

    /// True while changes wait to become durable.
    pub(crate) fn is_storing(&self) -> bool {
        self.cores().any(|core| core.unstored() > 0)
    }

    fn cores(&self) -> impl Iterator<Item = &SimulatedRoom> {
        self.rooms.iter().filter_map(|room| room.core.as_ref())
    }
}

impl Settings {
    fn apply(&self, config: &mut Config) {
        config.durability = self.durability;
        let (timing, limits) = (&mut config.timing, &mut config.limits);
        timing.tick = self.tick.unwrap_or(timing.tick);
        timing.away = self.away.unwrap_or(timing.away);
        limits.snapshot_after = self.snapshot_after.unwrap_or(limits.snapshot_after);
        limits.max_log_bytes = self.max_log_bytes.unwrap_or(limits.max_log_bytes);
    }
}
