//! Groupwire's own compressor.

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery, Encoder};

use crate::messages::row::Mode;
use crate::messages::technique::{Decoded, Failure, Message, Packet, State, Technique};
use crate::trace::limits::MAX_MESSAGE;

/// An encoder and a decoder of `groupwire-gmc`.
pub(in crate::messages) struct Groupwire {
    encoder: Encoder,
    decoder: Decoder,
    fields: usize,
}

impl Groupwire {
    /// With `senders` the encoder gets the kind and the sender of each message, and transmits them.
    /// `memory`: bytes for each direction.
    pub(in crate::messages) fn new(mode: Mode, senders: bool, memory: usize) -> Self {
        let fields = if senders { 2 } else { 0 };
        let config = Config {
            delivery: match mode {
                Mode::Stream => Delivery::Ordered,
                Mode::Datagram | Mode::Packet3 | Mode::Packet10 => Delivery::Datagrams,
            },
            memory,
            fields,
            // Packets of ten of the largest messages of a trace.
            max_message: MAX_MESSAGE,
            max_packet: 11 * MAX_MESSAGE,
            ..Config::default()
        };
        Groupwire { encoder: Encoder::new(config.clone()), decoder: Decoder::new(config), fields }
    }

    pub(in crate::messages) fn encoder_mut(&mut self) -> &mut Encoder {
        &mut self.encoder
    }
}

impl Technique for Groupwire {
    fn encode(&mut self, messages: &[Message<'_>], packet: &mut Packet) -> Result<(), Failure> {
        let fields: Vec<[u32; 2]> = messages.iter().map(|one| [one.kind, one.sender]).collect();
        let messages = messages.iter().zip(&fields).map(|(message, fields)| {
            groupwire_gmc::Message { fields: &fields[..self.fields], bytes: message.bytes }
        });
        Ok(self.encoder.encode_packet(messages, &mut packet.body)?)
    }

    fn decode(&mut self, packet: &Packet, out: &mut Decoded) -> Result<(), Failure> {
        Ok(self.decoder.decode_packet(&packet.body, |message| out.push(message.bytes))?)
    }

    fn is_too_late(&self, error: &Failure) -> bool {
        matches!(error.downcast_ref(), Some(DecodeError::UnknownEpoch))
    }

    fn acknowledge(&mut self, out: &mut Vec<u8>) {
        self.decoder.acknowledge(out);
    }

    fn acknowledged(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.encoder.acknowledge(bytes)?;
        Ok(())
    }

    fn state(&mut self) -> State {
        State { encoder: Some(self.encoder.memory()), decoder: Some(self.decoder.memory()) }
    }

    fn snapshot_bytes(&mut self) -> Option<u64> {
        // The model is compacted as for a newcomer, with one more packet that both ends learn.
        self.encoder.compact();
        let (mut packet, mut ack) = (Vec::new(), Vec::new());
        self.encoder.encode(b"{}", &mut packet).ok()?;
        self.decoder.decode_packet(&packet, |_| {}).ok()?;
        self.decoder.acknowledge(&mut ack);
        if !ack.is_empty() {
            self.encoder.acknowledge(&ack).ok()?;
        }
        let mut snapshot = Vec::new();
        self.encoder.snapshot(&mut snapshot);
        Some(snapshot.len() as u64)
    }
}
