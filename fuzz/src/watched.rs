//! A decoder that is watched: whatever comes, it keeps to what its documentation promises.

use groupwire_gmc::{Config, DecodeError, Decoder, Delivery};

use crate::Sent;

/// A decoder, and what it must keep to.
pub struct Watched {
    config: Config,
    decoder: Decoder,
    failed: bool,
    /// Bytes that the largest packet that was decoded may take.
    largest: usize,
}

/// The most bytes of an acknowledgement.
const ACKNOWLEDGEMENT_MAX: usize = 140;

impl Watched {
    /// A decoder that knows nothing yet.
    pub fn new(config: &Config) -> Self {
        Self {
            decoder: Decoder::new(config.clone()),
            config: config.clone(),
            failed: false,
            largest: 0,
        }
    }

    /// The messages of a packet.
    pub fn decode(&mut self, packet: &[u8]) -> Result<Vec<Sent>, DecodeError> {
        let config = &self.config;
        let mut messages: Vec<Sent> = Vec::new();
        let result = self.decoder.decode_packet(packet, |message| {
            assert!(message.bytes.len() <= config.max_message);
            assert_eq!(message.fields.len(), config.fields);
            messages.push(Sent { fields: message.fields.to_vec(), bytes: message.bytes.to_vec() });
        });
        let bytes: usize = messages.iter().map(|message| message.bytes.len()).sum();
        assert!(messages.len() <= config.max_messages_per_packet && bytes <= config.max_packet);
        assert!(result.is_ok() || messages.is_empty(), "an error hands out nothing");
        if config.delivery == Delivery::Ordered {
            assert!(!self.failed || result == Err(DecodeError::Poisoned), "the stream is over");
            self.failed = result.is_err();
        } else {
            assert_ne!(result, Err(DecodeError::Poisoned), "the packet is lost and nothing else");
        }
        self.largest = self.largest.max(size(&messages));
        check_memory(config, self.decoder.memory(), self.largest);
        result.map(|()| messages)
    }

    /// What the decoder acknowledges.
    pub fn acknowledge(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.decoder.acknowledge(&mut out);
        assert!(out.len() <= ACKNOWLEDGEMENT_MAX);
        check_memory(&self.config, self.decoder.memory(), self.largest);
        out
    }
}

/// Bytes that a packet of these messages may take at most until it is learned.
pub fn size(messages: &[Sent]) -> usize {
    let of = |message: &Sent| 3 * message.bytes.len() + 4 * message.fields.len() + 500;
    messages.iter().map(of).sum()
}

/// Checks that an end takes no more memory than documented. Its largest packet has `largest` bytes.
pub fn check_memory(config: &Config, memory: usize, largest: usize) {
    let tables = if config.memory < 8 << 10 { 1 << 10 } else { 0 };
    let more = tables + if largest > config.memory / 4 { largest } else { 0 };
    assert!(memory <= config.memory + more, "{memory} of {} and {more}", config.memory);
}
