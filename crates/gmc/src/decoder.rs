//! The receiving end of a stream.

use alloc::vec::Vec;
use core::fmt;

use crate::batch::{Batch, Message};
use crate::config::Config;
use crate::error::DecodeError;
use crate::packet::{self, Check};
use crate::range_coder::{RangeDecoder, RangeEncoder};
use crate::stream::Stream;

/// Turns packets into the messages that they were made of.
///
/// Takes any bytes without harm: they decode to messages within the limits of the [`Config`], or to
/// an error. After an error the stream is over: see [`DecodeError`].
pub struct Decoder {
    stream: Stream,
    check: Check,
    done: Batch,
    plain: Vec<u8>,
    unused: Batch,
    poisoned: bool,
}

impl Decoder {
    /// A decoder that knows nothing yet.
    pub fn new(config: Config) -> Self {
        Self {
            stream: Stream::new(config),
            check: Check::default(),
            done: Batch::default(),
            plain: Vec::new(),
            unused: Batch::default(),
            poisoned: false,
        }
    }

    /// Appends to `out` the message of a packet that [`Encoder::encode`](crate::Encoder::encode)
    /// made.
    ///
    /// On an error nothing is appended.
    pub fn decode(&mut self, packet: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.read(packet)?;
        if self.done.len() != 1 {
            self.poisoned = true;
            return Err(DecodeError::NotOneMessage);
        }
        out.extend_from_slice(&self.done.bytes);
        Ok(())
    }

    /// Hands the messages of a packet to `each`, in order.
    ///
    /// On an error `each` is not called at all.
    pub fn decode_packet(
        &mut self,
        packet: &[u8],
        each: impl FnMut(Message<'_>),
    ) -> Result<(), DecodeError> {
        self.read(packet)?;
        self.done.iter().for_each(each);
        Ok(())
    }

    /// Bytes of model state in use. Never more than [`Config::memory`].
    pub fn memory(&self) -> usize {
        self.stream.memory()
    }

    fn read(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        if self.poisoned {
            return Err(DecodeError::Poisoned);
        }
        let result = self.read_body(packet);
        self.poisoned = result.is_err();
        result
    }

    fn read_body(&mut self, packet: &[u8]) -> Result<(), DecodeError> {
        let (check, body) = match (self.stream.config().check, packet) {
            (false, body) => (None, body),
            (true, [body @ .., check]) => (Some(*check), body),
            (true, []) => return Err(DecodeError::Malformed),
        };
        self.done.clear();
        match body.first() {
            None => return Err(DecodeError::Malformed),
            Some(&packet::PLAIN) => {
                packet::read_plain(body, &mut self.plain, &mut self.done, self.stream.config())?;
                if !self.done.is_bulk() {
                    // The model learns from the messages as if they had been coded.
                    self.unused.clear();
                    self.plain.clear();
                    let mut coder = RangeEncoder::new(&mut self.plain);
                    self.stream.code(&mut coder, &self.done, &mut self.unused)?;
                }
            }
            Some(_) => {
                let mut coder = RangeDecoder::new(body);
                self.stream.code(&mut coder, &Batch::default(), &mut self.done)?;
                if !coder.is_complete() {
                    return Err(DecodeError::Malformed);
                }
            }
        }
        if check.is_some_and(|check| check != self.check.add(&self.done)) {
            return Err(DecodeError::CheckFailed);
        }
        Ok(())
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("config", self.stream.config()).finish_non_exhaustive()
    }
}
