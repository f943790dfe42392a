//! The session core for browsers: a thin JavaScript interface to [`groupwire_session::Client`].
//!
//! The caller drives the core as every Groupwire core: it reports what happened (`opened`,
//! `received`, `sent`, `closed`, `timeout`), then calls `poll` and carries out each output that
//! `poll` returns, until the output is a `timeout`. `now` is the time in milliseconds, as
//! `performance.now()` returns it. This crate only converts values: `groupwire_session` implements
//! sessions, and `web/client` uses them in web pages.
//!
//! Functions that return a `JsValue` return it in a `Result`, even where nothing can fail:
//! scripts/bindgen/src/returns.rs says why and refuses any other.

#![no_std]

extern crate alloc;

mod codecs;
mod compress;
mod contract;
mod failure;
mod output;
mod plain;
mod qos;
#[cfg(target_arch = "wasm32")]
mod runtime;

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use groupwire_session::client::{
    ChannelId, ChannelOptions, Config, Input, Outgoing, Recipient, Sent,
};
use groupwire_session::{Client, Durability, ModelMemory, ParticipantId, Position};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use plain::Plain;

/// The client of one participant in a room.
#[wasm_bindgen]
pub struct Core {
    client: Client,
}

#[wasm_bindgen]
impl Core {
    /// Creates a participant of `room`. `seed` is a random number from which the client draws its
    /// delays, so that clients do not all reconnect at the same time. `plain` states that the
    /// second part of this module is not loaded yet: the session then begins with plain messages,
    /// until [`Core::complete`]. `small` asks for models with little memory.
    #[wasm_bindgen(constructor)]
    pub fn new(
        now: f64,
        room: &str,
        token: Vec<u8>,
        presence: Vec<u8>,
        seed: f64,
        plain: bool,
        small: bool,
    ) -> Result<Core, JsValue> {
        let seed = seed.to_bits();
        let memory = if small { ModelMemory::Small } else { ModelMemory::Full };
        let codecs = codecs::OWN;
        let config = Config { token, presence, seed, plain, memory, codecs, ..Config::new(room) };
        let client = Client::new(time(now), config).map_err(failure::thrown)?;
        Ok(Core { client })
    }

    /// Reports that the second part of this module is loaded. The session uses it over the next
    /// transport.
    pub fn complete(&mut self) {
        self.client.complete();
    }

    /// Reports that a transport was opened. `max_datagram` is the largest size of its datagrams in
    /// bytes; 0 if the transport has no datagrams. If the participant has joined over another
    /// transport, the session moves to the new one.
    pub fn opened(&mut self, now: f64, max_datagram: u32) {
        let max_datagram = max_datagram as usize;
        self.client.handle_input(time(now), Input::Opened { max_datagram });
    }

    /// Reports a received packet.
    pub fn received(&mut self, now: f64, packet: &[u8]) {
        self.client.handle_input(time(now), Input::Packet(packet));
    }

    /// Reports a received datagram.
    #[wasm_bindgen(js_name = receivedDatagram)]
    pub fn received_datagram(&mut self, now: f64, packet: &[u8]) {
        self.client.handle_input(time(now), Input::Datagram(packet));
    }

    /// Reports that the transport has sent or dropped one datagram that it was given.
    #[wasm_bindgen(js_name = datagramSent)]
    pub fn datagram_sent(&mut self, now: f64) {
        self.client.handle_input(time(now), Input::DatagramSent);
    }

    /// Reports that the transport has accepted one packet.
    pub fn sent(&mut self, now: f64) {
        self.client.handle_input(time(now), Input::Sent);
    }

    /// Reports that the transport is closed, or could not be opened.
    pub fn closed(&mut self, now: f64) {
        self.client.handle_input(time(now), Input::Closed);
    }

    /// Reports that the network may be back, so that the session opens a transport without waiting
    /// any longer.
    pub fn hurry(&mut self, now: f64) {
        self.client.handle_input(time(now), Input::Hurry);
    }

    /// Reports that the time of the last `timeout` output has come.
    pub fn timeout(&mut self, now: f64) {
        self.client.handle_input(time(now), Input::Timeout);
    }

    /// Returns the next output, which tells the caller what to do.
    pub fn poll(&mut self, now: f64) -> Result<JsValue, JsValue> {
        Ok(output::describe(self.client.poll_output(time(now))).into())
    }

    /// Opens a channel and returns its number: 0 for the first channel, then 1 and so on.
    pub fn channel(&mut self, name: &str, qos: &Plain, compress: &Plain) -> Result<u32, JsValue> {
        let qos = qos::read(qos).map_err(failure::thrown)?;
        let options =
            ChannelOptions { compress: compress::read(compress), ..ChannelOptions::default() };
        let opened = self.client.channel_with(name, qos, options);
        opened.map(|ChannelId(id)| id).map_err(failure::thrown)
    }

    /// Changes how the messages of a channel are compressed.
    pub fn compress(&mut self, channel: u32, compress: &Plain) -> Result<(), JsValue> {
        let compress = compress::read(compress);
        self.client.compress(ChannelId(channel), compress).map_err(failure::thrown)
    }

    /// Asks the server to change the QoS of a channel, which holds for all participants.
    #[wasm_bindgen(js_name = setQos)]
    pub fn set_qos(&mut self, channel: u32, qos: &Plain) -> Result<(), JsValue> {
        let qos = qos::read(qos).map_err(failure::thrown)?;
        self.client.set_qos(ChannelId(channel), qos).map_err(failure::thrown)
    }

    /// Asks the server to send this participant at most `rate` values of each key per second on a
    /// channel. If `rate` is undefined, asks for all values.
    #[wasm_bindgen(js_name = limitRate)]
    pub fn limit_rate(&mut self, channel: u32, rate: Option<f64>) -> Result<(), JsValue> {
        let rate = rate.map(qos::limit).transpose().map_err(failure::thrown)?;
        self.client.limit_rate(ChannelId(channel), rate).map_err(failure::thrown)
    }

    /// Closes a channel once everything that was sent on it is confirmed. The answer is the event
    /// `closed`.
    pub fn close(&mut self, channel: u32) -> Result<(), JsValue> {
        self.client.close(ChannelId(channel)).map_err(failure::thrown)
    }

    /// Returns a report on a channel's QoS contract: whether it is met, and what the session does
    /// to meet it. `undefined` if there is no report on the channel.
    pub fn contract(&self, channel: u32) -> Result<JsValue, JsValue> {
        let report = self.client.contract(ChannelId(channel));
        Ok(report.map_or(JsValue::UNDEFINED, |report| contract::write(&report).into()))
    }

    /// Sets which other WebAssembly modules with codecs this core uses: the one with most codecs if
    /// `most` is true, the one with brotli if `brotli` is true. `installCodecs` must have been
    /// called for them before.
    #[wasm_bindgen(js_name = setCodecs)]
    pub fn set_codecs(&mut self, most: bool, brotli: bool) {
        self.client.set_codecs(codecs::with(most, brotli));
    }

    /// Sends a message. `text` states that `bytes` is UTF-8 text. Returns `accepted`, `conflated`
    /// (the message replaced an older value that was not sent yet) or `not-now` (the message was
    /// not accepted, because too much waits to be sent).
    pub fn send(
        &mut self,
        now: f64,
        channel: u32,
        bytes: &[u8],
        text: bool,
        key: Option<String>,
        priority: Option<f64>,
    ) -> Result<JsValue, JsValue> {
        let priority = priority.map(qos::priority).transpose().map_err(failure::thrown)?;
        let key = key.as_ref().map(String::as_bytes);
        self.submit(now, channel, Outgoing { bytes, text, key, priority, to: None })
    }

    /// Sends a message to the participant `to` alone. The event `receipt` with this `tag` reports
    /// whether it was delivered.
    #[wasm_bindgen(js_name = sendTo)]
    pub fn send_to(
        &mut self,
        now: f64,
        channel: u32,
        bytes: &[u8],
        text: bool,
        to: u32,
        tag: u32,
    ) -> Result<JsValue, JsValue> {
        let to = Some(Recipient { participant: ParticipantId(to), tag });
        self.submit(now, channel, Outgoing { bytes, text, to, ..Outgoing::default() })
    }

    /// Replaces the token of this participant.
    #[wasm_bindgen(js_name = setToken)]
    pub fn set_token(&mut self, token: &[u8]) -> Result<(), JsValue> {
        self.client.set_token(token).map_err(failure::thrown)
    }

    /// Changes the presence of this participant, which the other participants see.
    #[wasm_bindgen(js_name = setPresence)]
    pub fn set_presence(&mut self, presence: &[u8]) -> Result<(), JsValue> {
        self.client.set_presence(presence).map_err(failure::thrown)
    }

    /// Asks for participants with numbers above `after`. The event `page` brings them.
    #[wasm_bindgen(js_name = wantPage)]
    pub fn want_page(&mut self, after: u32) {
        self.client.want_page(ParticipantId(after));
    }

    /// States that the application makes the part `part` of the room's snapshot: the state of these
    /// channels.
    pub fn provide(&mut self, part: &str, channels: &[u32]) -> Result<(), JsValue> {
        let channels: Vec<ChannelId> = channels.iter().copied().map(ChannelId).collect();
        self.client.provide(part, &channels).map_err(failure::thrown)
    }

    /// Answers the event `snapshotWanted`. `part` and `as_of` are those of the event, `bytes` is
    /// the part.
    pub fn snapshot(&mut self, part: &str, as_of: f64, bytes: &[u8]) -> Result<(), JsValue> {
        self.client.snapshot(part, Position(as_of as u64), bytes).map_err(failure::thrown)
    }

    /// Sets the reason why the current transport was chosen, which the inspector shows.
    #[wasm_bindgen(js_name = setReason)]
    pub fn set_reason(&mut self, reason: &str) {
        self.client.set_reason(reason);
    }

    /// The number of own transactions that are not confirmed.
    pub fn pending(&self) -> u32 {
        self.client.pending() as u32
    }

    /// What a confirmed transaction survives: `memory`, `local` or `cluster`. `undefined` before
    /// the session has joined.
    pub fn durability(&self) -> Result<JsValue, JsValue> {
        let durability = self.client.participant().map(|_| match self.client.durability() {
            Durability::Memory => "memory",
            Durability::Local => "local",
            Durability::Cluster => "cluster",
        });
        Ok(durability.map_or(JsValue::UNDEFINED, JsValue::from_str))
    }

    /// Leaves the room, which ends the session.
    pub fn leave(&mut self) {
        self.client.leave();
    }

    /// Returns the numbers of messages, packets, bytes and reconnects since the core was created,
    /// and the round-trip time in milliseconds.
    pub fn stats(&self) -> Result<JsValue, JsValue> {
        let stats = self.client.stats();
        let traffic = |messages, packets, before, after, payload| {
            Plain::new()
                .with("messages", number(messages))
                .with("packets", number(packets))
                .with("bytesBefore", number(before))
                .with("bytesAfter", number(after))
                .with("bytesPayload", number(payload))
        };
        let sent = traffic(
            stats.messages_out,
            stats.packets_out,
            stats.bytes_out_before,
            stats.bytes_out_after,
            stats.payload_bytes_out,
        );
        let received = traffic(
            stats.messages_in,
            stats.packets_in,
            stats.bytes_in_before,
            stats.bytes_in_after,
            stats.payload_bytes_in,
        );
        let stats = Plain::new()
            .with("sent", sent)
            .with("received", received)
            .with("roundTrip", self.client.round_trip().map(millis))
            .with("reconnects", number(stats.reconnects))
            .with("channels", compress::stats(&self.client));
        Ok(stats.into())
    }
}

impl Core {
    fn submit(
        &mut self,
        now: f64,
        channel: u32,
        message: Outgoing<'_>,
    ) -> Result<JsValue, JsValue> {
        let sent =
            self.client.send(time(now), ChannelId(channel), message).map_err(failure::thrown)?;
        Ok(JsValue::from_str(match sent {
            Sent::Accepted => "accepted",
            Sent::Conflated => "conflated",
            Sent::NotNow => "not-now",
        }))
    }
}

/// Converts a JavaScript time in milliseconds to a duration. Negative numbers and NaN become 0.
fn time(ms: f64) -> Duration {
    Duration::from_micros((ms * 1000.0) as u64)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Converts a counter or a position to a JavaScript number. Values below 2^53 are converted
/// exactly.
fn number(value: u64) -> f64 {
    value as f64
}
