//! Groupwire over datagrams, with an account of its packets.

use groupwire_gmc::Encoder;

use super::super::row::Mode;
use super::super::technique::{Decoded, Failure, Message, Packet, State, Technique};
use super::super::techniques::{Groupwire, MEMORY};
use super::knowledge::Knowledge;
use super::ledger::{Ledger, total};

/// Both ends, and what the packets cost.
pub(super) struct Accountant {
    groupwire: Groupwire,
    /// The number of packets at the start of which no account is kept.
    untold: usize,
    /// The message before.
    before: Vec<u8>,
    pub(super) ledger: Ledger,
    pub(super) knowledge: Knowledge,
}

impl Accountant {
    pub(super) fn new(untold: usize) -> Self {
        let mut groupwire = Groupwire::new(Mode::Datagram, false, MEMORY);
        groupwire.encoder_mut().set_accounting(true);
        Accountant {
            groupwire,
            untold,
            before: Vec::new(),
            ledger: Ledger::default(),
            knowledge: Knowledge::default(),
        }
    }

    /// Enters how many more bits a packet of this message would take if it repeated the message
    /// before.
    fn enter_repeat(&mut self, message: &[u8]) -> Result<(), Failure> {
        let encoder = self.groupwire.encoder_mut();
        let alone = tried(encoder, &[message])?;
        let both = tried(encoder, &[&self.before, message])?;
        self.ledger.enter_repeat(both - alone);
        Ok(())
    }
}

/// The bits of a packet of these messages, which is not sent.
fn tried(encoder: &mut Encoder, messages: &[&[u8]]) -> Result<f64, Failure> {
    let messages = messages.iter().map(|bytes| groupwire_gmc::Message { fields: &[], bytes });
    encoder.encode_packet_within(messages, 0, &mut Vec::new())?;
    Ok(total(encoder))
}

impl Technique for Accountant {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        let is_told = self.untold == 0;
        self.untold = self.untold.saturating_sub(1);
        if let [message] = messages {
            if is_told && !self.before.is_empty() {
                self.enter_repeat(message.bytes)?;
            }
            self.before = message.bytes.to_vec();
        }
        self.groupwire.encode(messages, packet)?;
        let encoder = self.groupwire.encoder_mut();
        self.knowledge.send(&packet.body, encoder.newest(), encoder.epoch());
        if is_told {
            self.ledger.enter(encoder, packet.body.len());
        }
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.knowledge.receive(&packet.body);
        self.groupwire.decode(packet, out)
    }

    fn is_too_late(&self, error: &Failure) -> bool {
        self.groupwire.is_too_late(error)
    }

    fn acknowledge(&mut self, out: &mut Vec<u8>) {
        self.groupwire.acknowledge(out);
    }

    fn acknowledged(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.groupwire.acknowledged(bytes)
    }

    fn state(&mut self) -> State {
        self.groupwire.state()
    }
}
