//! The server's room for tests of applications, as a WebAssembly module:
//! [`groupwire_session::Room`], the state machine that every server runs, with a store in memory
//! instead of a disk. `web/client/src/testing` drives it in simulated time.
//!
//! The caller reports each input with the time in milliseconds, then calls `poll` and carries out
//! each output until the output is a `timeout`. The module has no clock and no randomness: the same
//! calls give the same outputs.

mod output;
mod settings;
mod time;

use groupwire_session::room::Input;
use groupwire_session::{Error, Identity, LinkId, Opening};
use groupwire_simulation::room::{self, Polled};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use settings::Settings;
use std::time::Duration;
use time::time;

/// A room and its store.
#[wasm_bindgen]
pub struct SimulatedRoom {
    room: room::SimulatedRoom,
}

#[wasm_bindgen]
impl SimulatedRoom {
    /// An empty room with this name. `incarnation` differs each time that a room with this name is
    /// made without its state.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, incarnation: u32, settings: &Settings) -> SimulatedRoom {
        let mut config = room::config(name, incarnation);
        settings::apply(settings, &mut config);
        SimulatedRoom { room: room::SimulatedRoom::new(config) }
    }

    /// Reports the first packet of a client on the transport `link`, of a user with these rights
    /// (`groupwire_simulation::room`).
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
        let (link, identity) = (id(link), identity(user, rights));
        self.room.join(time(now), link, packet, max_datagram as usize, &identity)?;
        Ok(())
    }

    /// Reports a later packet.
    pub fn packet(&mut self, now: f64, link: u32, packet: &[u8]) {
        self.room.input(time(now), Input::Packet { link: id(link), packet });
    }

    /// Reports a datagram.
    pub fn datagram(&mut self, now: f64, link: u32, packet: &[u8]) {
        self.room.input(time(now), Input::Datagram { link: id(link), packet });
    }

    /// Reports that the transport has sent the packet of an output `send`.
    pub fn sent(&mut self, now: f64, link: u32) {
        self.room.input(time(now), Input::Sent { link: id(link) });
    }

    /// Reports that the transport has sent or dropped the datagram of an output `datagram` whose
    /// field `reports` is true.
    #[wasm_bindgen(js_name = datagramSent)]
    pub fn datagram_sent(&mut self, now: f64, link: u32) {
        self.room.input(time(now), Input::DatagramSent { link: id(link) });
    }

    /// Reports that the transport is closed.
    pub fn closed(&mut self, now: f64, link: u32) {
        self.room.input(time(now), Input::Closed { link: id(link) });
    }

    /// Answers the output `token`: the participant's token is good, and it is a user with these
    /// rights.
    pub fn renewed(&mut self, now: f64, link: u32, user: &str, rights: &str) {
        let identity = &identity(user, rights);
        self.room.input(time(now), Input::Renewed { link: id(link), identity });
    }

    /// Asks the participant for another token, as if its present one expired soon.
    #[wasm_bindgen(js_name = wantToken)]
    pub fn want_token(&mut self, now: f64, link: u32) {
        self.room.input(time(now), Input::TokenWanted { link: id(link) });
    }

    /// Closes the transport because the server does not permit the participant to be in the room.
    pub fn refuse(&mut self, now: f64, link: u32, why: &str) {
        let error = Error::Refused { why: why.into() };
        self.room.input(time(now), Input::Fail { link: id(link), error });
    }

    /// Stops the server: the room says goodbye to all clients, which may come back after `retry`
    /// milliseconds.
    pub fn shutdown(&mut self, now: f64, retry: f64) {
        let input = Input::Shutdown { retry: time(retry), step: Duration::ZERO };
        self.room.input(time(now), input);
    }

    /// The time of the output `timeout` has come.
    pub fn timeout(&mut self, now: f64) {
        self.room.input(time(now), Input::Timeout);
    }

    /// Makes the oldest change durable that a `store` output has reported and that is not durable
    /// yet.
    pub fn stored(&mut self, now: f64) {
        self.room.stored(time(now));
    }

    /// The number of changes that are not durable yet.
    #[wasm_bindgen(getter)]
    pub fn unstored(&self) -> u32 {
        self.room.unstored()
    }

    /// Kills the server and starts another one. The first `kept` waiting changes became durable,
    /// but no client was told; the others are lost. The durable state of a stored room is loaded; a
    /// room without one begins anew, with `incarnation`.
    ///
    /// # Errors
    /// If the room refuses what it stored itself, which is a bug of Groupwire.
    pub fn restart(&mut self, kept: u32, incarnation: u32) -> Result<(), JsError> {
        self.room.restart(kept, incarnation)?;
        Ok(())
    }

    /// Does the same as `restart`, but everything that was stored is lost, too.
    pub fn lose(&mut self, incarnation: u32) {
        self.room.lose(incarnation);
    }

    /// The next output, which tells the caller what to do, as an object (output.rs).
    pub fn poll(&mut self) -> Result<JsValue, JsValue> {
        Ok(match self.room.poll() {
            Polled::Changed => output::of("store"),
            Polled::Output(output) => output::describe(output),
        })
    }

    /// Grows with each message that the room takes or sends.
    #[wasm_bindgen(getter)]
    pub fn activity(&self) -> f64 {
        self.room.activity() as f64
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

fn id(link: u32) -> LinkId {
    LinkId(link.into())
}

fn identity(user: &str, rights: &str) -> Identity {
    Identity { subject: user.as_bytes().to_vec(), rights: rights.as_bytes().to_vec() }
}
