//! The server's room for tests of applications, as a WebAssembly module:
//! [`groupwire_session::Room`], the state machine that every server runs, with a store in memory
//! instead of a disk. `web/client/src/testing` drives it in simulated time.
//!
//! The caller reports each input with the time in milliseconds, then calls `poll` and carries out
//! each output until the output is a `timeout`. The module has no clock and no randomness: the same
//! calls give the same outputs.

mod authority;
mod disk;
mod output;
mod secrets;
mod settings;
mod time;

use std::time::Duration;

use groupwire_session::room::{Config, Input, Output};
use groupwire_session::{Error, Identity, LinkId, Opening, Room};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use authority::ByRights;
use disk::Disk;
use secrets::Hashed;
use settings::Settings;
use time::time;

/// The time of day at the room's time 0, as Unix time. Stored rooms need one; simulations have no
/// other use for it.
const WALL: Duration = Duration::from_secs(1_700_000_000);

/// A room and its store.
#[wasm_bindgen]
pub struct SimulatedRoom {
    room: Room,
    config: Config,
    disk: Disk,
}

#[wasm_bindgen]
impl SimulatedRoom {
    /// An empty room with this name. `incarnation` differs each time that a room with this name is
    /// made without its state.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, incarnation: u32, settings: &Settings) -> SimulatedRoom {
        let mut config = Config::new(name, incarnation.into());
        config.wall = WALL;
        settings::apply(settings, &mut config);
        SimulatedRoom { room: empty(&config), disk: Disk::default(), config }
    }

    /// Reports the first packet of a client on the transport `link`, of a user with these rights
    /// (authority.rs).
    ///
    /// # Errors
    /// If the packet is not the first packet of a client.
    pub fn join(
        &mut self,
        now: f64,
        link: u32,
        packet: &[u8],
        max_datagram: u32,
        user: &str,
        rights: &str,
    ) -> Result<(), JsError> {
        let (link, identity, opening) = (id(link), identity(user, rights), &Opening::read(packet)?);
        let max_datagram = max_datagram as usize;
        let secrets = &Hashed;
        let input = Input::Join { link, opening, identity: &identity, secrets, max_datagram };
        self.room.handle_input(time(now), input);
        Ok(())
    }

    /// Reports a later packet.
    pub fn packet(&mut self, now: f64, link: u32, packet: &[u8]) {
        self.room.handle_input(time(now), Input::Packet { link: id(link), packet });
    }

    /// Reports a datagram.
    pub fn datagram(&mut self, now: f64, link: u32, packet: &[u8]) {
        self.room.handle_input(time(now), Input::Datagram { link: id(link), packet });
    }

    /// Reports that the transport has sent the packet of an output `send`.
    pub fn sent(&mut self, now: f64, link: u32) {
        self.room.handle_input(time(now), Input::Sent { link: id(link) });
    }

    /// Reports that the transport has sent or dropped the datagram of an output `datagram` whose
    /// field `reports` is true.
    #[wasm_bindgen(js_name = datagramSent)]
    pub fn datagram_sent(&mut self, now: f64, link: u32) {
        self.room.handle_input(time(now), Input::DatagramSent { link: id(link) });
    }

    /// Reports that the transport is closed.
    pub fn closed(&mut self, now: f64, link: u32) {
        self.room.handle_input(time(now), Input::Closed { link: id(link) });
    }

    /// Answers the output `token`: the participant's token is good, and it is a user with these
    /// rights.
    pub fn renewed(&mut self, now: f64, link: u32, user: &str, rights: &str) {
        let identity = &identity(user, rights);
        self.room.handle_input(time(now), Input::Renewed { link: id(link), identity });
    }

    /// Asks the participant for another token, as if its present one expired soon.
    #[wasm_bindgen(js_name = wantToken)]
    pub fn want_token(&mut self, now: f64, link: u32) {
        self.room.handle_input(time(now), Input::TokenWanted { link: id(link) });
    }

    /// Closes the transport because the server does not permit the participant to be in the room.
    pub fn refuse(&mut self, now: f64, link: u32, why: &str) {
        let error = Error::Refused { why: why.into() };
        self.room.handle_input(time(now), Input::Fail { link: id(link), error });
    }

    /// Stops the server: the room says goodbye to all clients, which may come back after `retry`
    /// milliseconds.
    pub fn shutdown(&mut self, now: f64, retry: f64) {
        let input = Input::Shutdown { retry: time(retry), step: Duration::ZERO };
        self.room.handle_input(time(now), input);
    }

    /// The time of the output `timeout` has come.
    pub fn timeout(&mut self, now: f64) {
        self.room.handle_input(time(now), Input::Timeout);
    }

    /// Makes the oldest change durable that a `store` output has reported and that is not durable
    /// yet.
    pub fn stored(&mut self, now: f64) {
        self.disk.apply(self.room.incarnation());
        let (position, reserved) = self.disk.durable();
        self.room.handle_input(time(now), Input::Durable { position, reserved });
    }

    /// The number of changes that are not durable yet.
    #[wasm_bindgen(getter)]
    pub fn unstored(&self) -> u32 {
        self.disk.waiting()
    }

    /// Kills the server and starts another one. The first `kept` waiting changes became durable,
    /// but no client was told; the others are lost. The durable state of a stored room is loaded; a
    /// room without one begins anew, with `incarnation`.
    ///
    /// # Errors
    /// If the room refuses what it stored itself, which is a bug of Groupwire.
    pub fn restart(&mut self, kept: u32, incarnation: u32) -> Result<(), JsError> {
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

    /// The next output, which tells the caller what to do, as an object (output.rs).
    pub fn poll(&mut self) -> Result<JsValue, JsValue> {
        let output = self.room.poll_output();
        if let Output::Store(write) = output {
            self.disk.put(write);
            return Ok(output::of("store"));
        }
        Ok(output::describe(output))
    }

    /// Grows with each message that the room takes or sends.
    #[wasm_bindgen(getter)]
    pub fn activity(&self) -> f64 {
        let stats = self.room.stats();
        (stats.messages_in + stats.deliveries) as f64
    }

    fn begin(&mut self, incarnation: u32) -> Room {
        self.config.incarnation = incarnation.into();
        empty(&self.config)
    }
}

/// Makes the answer to the first packet of a client that may not join.
#[wasm_bindgen]
pub fn refusal(why: &str) -> Vec<u8> {
    groupwire_session::refusal(&Error::Refused { why: why.into() })
}

/// The token in the first packet of a client.
///
/// # Errors
/// If the packet is not the first packet of a client.
#[wasm_bindgen(js_name = tokenOf)]
pub fn token_of(packet: &[u8]) -> Result<String, JsError> {
    Ok(String::from_utf8_lossy(Opening::read(packet)?.token()).into_owned())
}

fn empty(config: &Config) -> Room {
    Room::new(config.clone(), Box::new(ByRights))
}

fn id(link: u32) -> LinkId {
    LinkId(link.into())
}

fn identity(user: &str, rights: &str) -> Identity {
    Identity { subject: user.as_bytes().to_vec(), rights: rights.as_bytes().to_vec() }
}
