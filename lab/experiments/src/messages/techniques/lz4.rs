//! LZ4 blocks, by Groupwire's own codec.

use groupwire_codecs::{Codec, Lz4 as Block};

use crate::messages::framing::Framing;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};
use crate::trace::limits::MAX_MESSAGE;

/// Compresses each packet on its own.
pub(super) struct Lz4 {
    framing: Framing,
    plain: Vec<u8>,
}

impl Lz4 {
    pub(super) fn new(framing: Framing) -> Self {
        Lz4 { framing, plain: Vec::new() }
    }
}

impl Technique for Lz4 {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        self.plain.clear();
        self.framing.join(messages, &mut self.plain);
        Block.compress(&self.plain, &mut packet.body);
        Ok(())
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        self.plain.clear();
        // Ten of the largest messages fill the largest packet.
        Block.decompress(&packet.body, 11 * MAX_MESSAGE, &mut self.plain)?;
        self.framing.split(&self.plain, out)
    }

    fn state(&mut self) -> State {
        State::NONE
    }
}
