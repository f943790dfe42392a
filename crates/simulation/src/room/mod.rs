//! A server's room for simulations: the state machine that every server runs, with a store in
//! memory instead of a disk.

mod disk;
mod rights;
mod secrets;

use std::time::Duration;

use groupwire_session::room::{Config, Input, Output};
use groupwire_session::{Error, Identity, LinkId, Opening, Room};

use disk::Disk;
use rights::ByRights;
use secrets::Hashed;

/// The time of day at the room's time 0, as Unix time. Stored rooms need one; simulations have no
/// other use for it.
const WALL: Duration = Duration::from_secs(1_700_000_000);

/// The configuration of an empty room with this name. `incarnation` differs each time that a room
/// with this name is made without its state.
pub fn config(name: &str, incarnation: u32) -> Config {
    Config { wall: WALL, ..Config::new(name, incarnation.into()) }
}

/// An output of a room.
#[derive(Debug)]
pub enum Polled {
    /// The store was given another change, which is not durable yet ([`SimulatedRoom::stored`]).
    Changed,
    /// Any other output; [`Output::Timeout`] is the last one.
    Output(Output),
}

/// A room and its store. The caller reports each input with the time, then calls
/// [`poll`](SimulatedRoom::poll) and carries out each output up to [`Output::Timeout`].
pub struct SimulatedRoom {
    room: Room,
    config: Config,
    disk: Disk,
}

impl SimulatedRoom {
    /// An empty room ([`config`]).
    pub fn new(config: Config) -> SimulatedRoom {
        SimulatedRoom { room: empty(&config), disk: Disk::default(), config }
    }

    /// Reports the first packet of a client on the transport `link`, of a user with the rights in
    /// `identity`: lines of the name of a right and patterns of channel names, separated by tabs.
    ///
    /// # Errors
    /// If the packet is not the first packet of a client.
    pub fn join(
        &mut self,
        now: Duration,
        link: LinkId,
        packet: &[u8],
        max_datagram: usize,
        identity: &Identity,
    ) -> Result<(), Error> {
        let opening = &Opening::read(packet)?;
        let input = Input::Join { link, opening, identity, secrets: &Hashed, max_datagram };
        self.room.handle_input(now, input);
        Ok(())
    }

    /// Reports anything else.
    pub fn input(&mut self, now: Duration, input: Input<'_>) {
        self.room.handle_input(now, input);
    }

    /// Makes the oldest change durable that [`Polled::Changed`] has reported and that is not
    /// durable yet.
    pub fn stored(&mut self, now: Duration) {
        self.disk.apply(self.room.incarnation());
        let (position, reserved) = self.disk.durable();
        self.room.handle_input(now, Input::Durable { position, reserved });
    }

    /// The number of changes that are not durable yet.
    pub fn unstored(&self) -> u32 {
        self.disk.waiting()
    }

    /// Kills the server and starts another one. The first `kept` waiting changes became durable,
    /// but no client was told; the others are lost. The durable state of a stored room is loaded; a
    /// room without one begins anew, with `incarnation`.
    ///
    /// # Errors
    /// If the room refuses what it stored itself, which is a bug of Groupwire.
    pub fn restart(&mut self, kept: u32, incarnation: u32) -> Result<(), Error> {
        self.config.load += 1;
        self.disk.crash(kept, self.room.incarnation());
        self.room = match self.disk.load() {
            Some(stored) => Room::load(self.config.clone(), Box::new(ByRights), stored)?,
            None => self.begin(incarnation),
        };
        Ok(())
    }

    /// Does the same as `restart`, but everything that was stored is lost, too.
    pub fn lose(&mut self, incarnation: u32) {
        self.disk = Disk::default();
        self.config.load += 1;
        self.room = self.begin(incarnation);
    }

    /// The next output.
    pub fn poll(&mut self) -> Polled {
        match self.room.poll_output() {
            Output::Store(write) => {
                self.disk.put(write);
                Polled::Changed
            }
            output => Polled::Output(output),
        }
    }

    /// Grows with each message that the room takes or sends.
    pub fn activity(&self) -> u64 {
        let stats = self.room.stats();
        stats.messages_in + stats.deliveries
    }

    fn begin(&mut self, incarnation: u32) -> Room {
        self.config.incarnation = incarnation.into();
        empty(&self.config)
    }
}

fn empty(config: &Config) -> Room {
    Room::new(config.clone(), Box::new(ByRights))
}
