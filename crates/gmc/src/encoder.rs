//! The sending end of a stream.

use alloc::vec::Vec;
use core::fmt;

use crate::batch::{Batch, Message};
use crate::config::Config;
use crate::error::EncodeError;
use crate::packet::{self, Check};
use crate::range_coder::RangeEncoder;
use crate::stream::Stream;

/// Turns messages into packets.
///
/// Every packet must reach the [`Decoder`](crate::Decoder), once and in order.
pub struct Encoder {
    stream: Stream,
    check: Check,
    given: Batch,
    done: Batch,
    plain: Vec<u8>,
}

impl Encoder {
    /// An encoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        Self {
            stream: Stream::new(config),
            check: Check::default(),
            given: Batch::default(),
            done: Batch::default(),
            plain: Vec::new(),
        }
    }

    /// Appends to `out` a packet of one message, whose fields, if any are configured, are all zero.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let fields = [0; Config::FIELDS_MAX];
        let fields = &fields[..self.stream.config().field_count()];
        self.encode_packet([Message { fields, bytes: message }], out)
    }

    /// Appends to `out` a packet of these messages, coded as a unit.
    ///
    /// On an error nothing is appended and the encoder is as it was.
    pub fn encode_packet<'a>(
        &mut self,
        messages: impl IntoIterator<Item = Message<'a>>,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        self.given.clear();
        for message in messages {
            self.given.add(message, self.stream.config())?;
        }
        self.done.clear();
        let start = out.len();
        if self.given.is_bulk() {
            packet::make_bulk(&self.given, &mut self.plain, out);
        } else {
            self.code(start, out);
        }
        if self.stream.config().check {
            out.push(self.check.add(&self.given));
        }
        Ok(())
    }

    fn code(&mut self, start: usize, out: &mut Vec<u8>) {
        let mut coder = RangeEncoder::new(out);
        self.stream
            .code(&mut coder, &self.given, &mut self.done)
            .expect("messages within the limits can be coded");
        coder.finish();
        debug_assert!(self.done.bytes == self.given.bytes, "the model codes what it was given");
        packet::make_smallest(&self.given, &mut self.plain, out, start);
    }

    /// Bytes of model state in use. Never more than [`Config::memory`].
    pub fn memory(&self) -> usize {
        self.stream.memory()
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
