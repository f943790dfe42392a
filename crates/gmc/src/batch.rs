//! The messages of one packet. The model, which appears below, is all that both ends have learned
//! from earlier messages.

use alloc::vec::Vec;

use crate::config::Config;
use crate::control::Control;
use crate::error::{DecodeError, EncodeError};

/// Bytes of the largest message that is coded with the model. A larger one teaches the model
/// little, and would take it 0.2 µs a byte, where a general-purpose codec takes a tenth of that.
pub(crate) const BULK: usize = 4096;

/// A message and its fields: small numbers that travel with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The fields: [`Config::fields`] numbers, of which the first two are the channel and the
    /// sender.
    pub fields: &'a [u32],
    /// The bytes that the app sends.
    pub bytes: &'a [u8],
}

/// The messages of a packet, one after the other in buffers that are reused for the next packet.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) fields: Vec<u32>,
    pub(crate) bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The control part of the packet: what the encoder asks all models to do, such as to become
    /// smaller.
    pub(crate) control: Control,
}

impl Clone for Batch {
    fn clone(&self) -> Self {
        let mut copy = Batch::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &Self) {
        self.fields.clone_from(&other.fields);
        self.bytes.clone_from(&other.bytes);
        self.ends.clone_from(&other.ends);
        self.control = other.control;
    }
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.fields.clear();
        self.bytes.clear();
        self.ends.clear();
        self.control = Control::default();
    }

    /// The memory in use, in bytes. It decides which packets are learned, and which snapshots are
    /// read. So the same messages count the same on machines of 32 and of 64 bits.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.fields.len() * 4 + self.ends.len() * 8
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Ends the present message, whose fields and bytes the caller has appended.
    pub(crate) fn end_message(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Adds a message if it is within the limits of `config`.
    pub(crate) fn add(&mut self, message: Message<'_>, config: &Config) -> Result<(), EncodeError> {
        if message.fields.len() != config.field_count() {
            return Err(EncodeError::WrongFields);
        }
        if message.bytes.len() > config.max_message {
            return Err(EncodeError::MessageTooLarge);
        }
        if self.len() == config.max_messages_per_packet {
            return Err(EncodeError::TooManyMessages);
        }
        if message.bytes.len() > config.max_packet - self.bytes.len().min(config.max_packet) {
            return Err(EncodeError::PacketTooLarge);
        }
        self.fields.extend_from_slice(message.fields);
        self.bytes.extend_from_slice(message.bytes);
        self.end_message();
        Ok(())
    }

    pub(crate) fn get(&self, index: usize) -> Message<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let count = self.fields.len() / self.ends.len();
        Message {
            fields: &self.fields[index * count..(index + 1) * count],
            bytes: &self.bytes[start..self.ends[index]],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Message<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Whether one of the messages is larger than [`BULK`], so that the packet is not coded with
    /// the model.
    pub(crate) fn is_bulk(&self) -> bool {
        self.bytes.len() > BULK && self.iter().any(|message| message.bytes.len() > BULK)
    }

    /// Appends all messages uncompressed: for each its fields, its length and its bytes. The last
    /// message has no length, since it reaches to the end.
    pub(crate) fn write_plain(&self, out: &mut Vec<u8>) {
        for (index, message) in self.iter().enumerate() {
            for &field in message.fields {
                write_number(field as usize, out);
            }
            if index + 1 < self.len() {
                // The number is the length plus one. Zero says that this is the last message.
                write_number(message.bytes.len() + 1, out);
            } else if index > 0 {
                write_number(0, out);
            }
            out.extend_from_slice(message.bytes);
        }
    }

    /// Reads the bytes that [`Batch::write_plain`] wrote. `several` says that it wrote more than
    /// one message.
    pub(crate) fn read_plain(
        &mut self,
        mut plain: &[u8],
        several: bool,
        config: &Config,
    ) -> Result<(), DecodeError> {
        loop {
            for _ in 0..config.field_count() {
                let field =
                    u32::try_from(read_number(&mut plain)?).map_err(|_| DecodeError::Malformed)?;
                self.fields.push(field);
            }
            let length = if several { read_number(&mut plain)? } else { 0 };
            let is_last = length == 0;
            let length = if is_last { plain.len() } else { length - 1 };
            if length > config.max_message || self.len() == config.max_messages_per_packet {
                return Err(DecodeError::TooLarge);
            }
            let (bytes, rest) = plain.split_at_checked(length).ok_or(DecodeError::Malformed)?;
            self.bytes.extend_from_slice(bytes);
            self.end_message();
            plain = rest;
            if is_last {
                return Ok(());
            }
        }
    }
}

fn write_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Result<usize, DecodeError> {
    let mut number = 0u64;
    // Five groups of seven bits hold any u32.
    for shift in 0..5 {
        let (&byte, rest) = bytes.split_first().ok_or(DecodeError::Malformed)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * shift);
        if byte < 0x80 {
            return usize::try_from(number).map_err(|_| DecodeError::Malformed);
        }
    }
    Err(DecodeError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Snapshots are read up to a number of these bytes (`docs/wire/gmc-snapshot.md`, S11).
    #[test]
    fn messages_take_the_same_memory_on_all_machines() {
        let config = Config { fields: 3, ..Config::default() };
        let mut batch = Batch::default();
        for bytes in [&b"ab"[..], b"cde"] {
            batch.add(Message { fields: &[1, 2, 3], bytes }, &config).expect("it is small");
        }
        assert_eq!(batch.memory(), 5 + 6 * 4 + 2 * 8);
    }
}
