//! Techniques that compress the messages of a packet as one string of bytes.

use crate::messages::framing::Framing;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};

/// Both ends of a codec that has no messages.
pub(super) trait Codec {
    /// Appends the compressed `plain` to the body of a packet.
    fn pack(&mut self, plain: &[u8], body: &mut Vec<u8>) -> Result<(), Failure>;

    /// Appends to `plain` what [`pack`](Codec::pack) compressed.
    fn unpack(&mut self, body: &[u8], plain: &mut Vec<u8>) -> Result<(), Failure>;

    /// Bytes kept from one packet to the next.
    fn state(&mut self) -> State {
        State::NONE
    }
}

/// The technique that a codec is with messages joined by a framing.
pub(super) struct Framed<C> {
    codec: C,
    framing: Framing,
    plain: Vec<u8>,
}

impl<C: Codec> Framed<C> {
    pub(super) fn new(framing: Framing, codec: C) -> Self {
        Framed { codec, framing, plain: Vec::new() }
    }
}

impl<C: Codec> Technique for Framed<C> {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        self.codec.pack(&self.plain, &mut packet.body)
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.plain.clear();
        self.codec.unpack(&packet.body, &mut self.plain)?;
        self.framing.split(&self.plain, out)
    }

    fn state(&mut self) -> State {
        self.codec.state()
    }
}
