//! Participants of Groupwire. A sampled one runs the whole client as everybody's does; one that
//! only counts keeps what comes and gives it to its client when all is over, so that decoding does
//! not take the server's processor.

use std::time::Duration;

use groupwire_session::client::{ChannelId, Config, Event, Input, Outgoing, Output};
use groupwire_session::{Client, Qos};

use super::frames::pong_to;
use super::ledger::{Ledger, Tally};

/// A packet for the server, over the stream or as a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet {
    Stream(Vec<u8>),
    Datagram(Vec<u8>),
}

/// A participant of Groupwire.
pub(super) struct Member {
    client: Client,
    channel: ChannelId,
    pub(super) is_ready: bool,
    /// Whether packets that arrive once the client is ready are kept for later.
    counts: bool,
    /// The arrival of each kept packet, and its end in `bytes`.
    kept: Vec<(u64, usize)>,
    bytes: Vec<u8>,
    pub(super) tally: Tally,
    /// What ended the session.
    pub(super) failure: Option<String>,
}

impl Member {
    /// A participant of this room.
    pub(super) fn new(
        room: &str,
        number: usize,
        counts: bool,
        tally: Tally,
    ) -> Result<Self, String> {
        let config = Config { seed: number as u64 + 1, ..Config::new(room) };
        let mut client = Client::new(Duration::ZERO, config).map_err(|error| error.to_string())?;
        let qos = Qos::awareness().aggregate().deadline(Duration::from_millis(250));
        let channel = client.channel("pointers", qos).map_err(|error| error.to_string())?;
        let (kept, bytes) = (Vec::new(), Vec::new());
        Ok(Member { client, channel, is_ready: false, counts, kept, bytes, tally, failure: None })
    }

    /// The transport is open, and carries datagrams of up to `max_datagram` bytes.
    pub(super) fn open(&mut self, ledger: &Ledger, max_datagram: usize, out: &mut Vec<Packet>) {
        let at = ledger.now();
        // The client asks for a transport before it accepts one.
        self.poll(ledger, at, out);
        self.input(ledger, at, Input::Opened { max_datagram }, out);
    }

    /// Handles a packet of the stream.
    pub(super) fn receive(
        &mut self,
        ledger: &Ledger,
        at: u64,
        packet: &[u8],
        out: &mut Vec<Packet>,
    ) {
        if !(self.counts && self.is_ready) {
            return self.input(ledger, at, Input::Packet(packet), out);
        }
        out.extend(pong_to(packet, at / 1000).map(Packet::Stream));
        self.bytes.extend_from_slice(packet);
        self.kept.push((at, self.bytes.len()));
    }

    /// Handles a datagram at once, because the server's next packets depend on the answer.
    pub(super) fn receive_datagram(
        &mut self,
        ledger: &Ledger,
        at: u64,
        packet: &[u8],
        out: &mut Vec<Packet>,
    ) {
        self.input(ledger, at, Input::Datagram(packet), out);
    }

    /// Handles a timeout of the client.
    pub(super) fn wake(&mut self, ledger: &Ledger, out: &mut Vec<Packet>) {
        if !(self.counts && self.is_ready) {
            self.input(ledger, ledger.now(), Input::Timeout, out);
        }
    }

    /// The time of the next [`Member::wake`].
    pub(super) fn due(&mut self, ledger: &Ledger, out: &mut Vec<Packet>) -> Option<u64> {
        if self.counts && self.is_ready {
            return None;
        }
        let at = self.poll(ledger, ledger.now(), out)?;
        u64::try_from(at.as_nanos()).ok()
    }

    /// Sends a message to all.
    pub(super) fn send_message(&mut self, ledger: &Ledger, message: &[u8], out: &mut Vec<Packet>) {
        let at = ledger.now();
        let message = Outgoing { bytes: message, text: true, ..Outgoing::default() };
        if let Err(error) = self.client.send(Duration::from_nanos(at), self.channel, message) {
            self.failure.get_or_insert(error.to_string());
        }
        self.poll(ledger, at, out);
    }

    /// Decodes the kept packets.
    pub(super) fn finish(&mut self, ledger: &Ledger) {
        let (bytes, mut start) = (std::mem::take(&mut self.bytes), 0);
        for (at, end) in std::mem::take(&mut self.kept) {
            self.input(ledger, at, Input::Packet(&bytes[start..end]), &mut Vec::new());
            start = end;
        }
    }

    fn input(&mut self, ledger: &Ledger, at: u64, input: Input<'_>, out: &mut Vec<Packet>) {
        self.client.handle_input(Duration::from_nanos(at), input);
        self.poll(ledger, at, out);
    }

    /// Carries out the client's outputs. Returns the time of its next timeout.
    fn poll(&mut self, ledger: &Ledger, at: u64, out: &mut Vec<Packet>) -> Option<Duration> {
        let now = Duration::from_nanos(at);
        loop {
            match self.client.poll_output(now) {
                Output::Send(packet) => {
                    out.push(Packet::Stream(packet));
                    // The kernel, or QUIC, accepts everything, because it is so little.
                    self.client.handle_input(now, Input::Sent);
                }
                Output::Datagram(packet) => {
                    out.push(Packet::Datagram(packet));
                    self.client.handle_input(now, Input::DatagramSent);
                }
                Output::Event(event) => self.take(ledger, at, event),
                Output::Hangup => self.client.handle_input(now, Input::Closed),
                Output::Dial => {
                    if self.is_ready {
                        self.failure.get_or_insert("the session broke".to_owned());
                        return None;
                    }
                }
                Output::Timeout(due) => return due,
            }
        }
    }

    fn take(&mut self, ledger: &Ledger, at: u64, event: Event) {
        match event {
            Event::Message(message) => self.tally.take(ledger, at, &message.bytes),
            Event::Synced { .. } => self.is_ready = true,
            Event::Error { error, .. } => drop(self.failure.get_or_insert(error.to_string())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_greets_when_its_transport_is_open() {
        let ledger = Ledger::new(1, 1);
        let mut member = Member::new("room", 0, true, Tally::new(None, false)).unwrap();
        let mut out = Vec::new();
        member.open(&ledger, 0, &mut out);
        assert!(matches!(&out[..], [Packet::Stream(packet)] if packet[..2] == [1, 1]), "{out:?}");
        assert!(!member.is_ready);
    }
}
