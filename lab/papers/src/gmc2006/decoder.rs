//! The receiving end. It accepts any bytes: see [`DecodeError`]. A template is an earlier message,
//! with which similar ones are compressed; announcements bring templates and additions to them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use groupwire_codecs::{Codec, CodecError, Deflate};

use super::announcement::{Announcement, Shape, read_u8, take};
use super::code::{END, ESCAPE, HOLE_NUMBER, MAX_EXPANSION, MAX_HOLE, NUMBER, keys};
use super::config::{Config, Profile};
use super::error::DecodeError;
use super::huffman::CodeSet;
use super::number::{MAX_BYTES, Number};
use super::packet::{Header, TemplateUse, take_packet};

/// Decompresses the packets of one encoder.
///
/// It holds at most [`Config::max_templates`] templates of [`Config::max_template_bytes`], each
/// with up to 255 dictionary entries of at most 280 bytes and a Huffman code set of 2 KiB. While it
/// decodes, it needs in addition up to five times [`Config::max_message`], or eight times the
/// packet's length.
#[derive(Debug)]
pub struct Decoder {
    config: Config,
    templates: Vec<Template>,
}

/// What was announced of one template.
#[derive(Debug)]
struct Template {
    number: u16,
    bytes: Vec<u8>,
    entries: Vec<Option<Entry>>,
    codes: Option<CodeSet>,
}

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Part { start: usize, end: usize },
    Composite { shape: Shape, parts: Box<[u8]> },
}

impl Decoder {
    /// A new decoder. Each value of the configuration that the formats cannot represent is replaced
    /// by the nearest one that they can.
    pub fn new(config: Config) -> Self {
        Self { config: config.bounded(), templates: Vec::new() }
    }

    /// Reads any number of announcements, in the order in which the encoder made them.
    ///
    /// An announcement that is repeated changes nothing. On an error the announcements before the
    /// faulty one are in effect.
    pub fn announce(&mut self, mut announcements: &[u8]) -> Result<(), DecodeError> {
        while !announcements.is_empty() {
            self.take(Announcement::read(&mut announcements)?)?;
        }
        Ok(())
    }

    /// Appends the message of `packet` to `out`. On an error `out` is as it was.
    pub fn decode(&self, packet: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let (mut first, mut count) = (Vec::new(), 0_u64);
        self.decode_run(packet, |message| {
            if count == 0 {
                first = message;
            }
            count += 1;
        })?;
        if count > 1 {
            return Err(DecodeError::NotOneMessage);
        }
        out.extend_from_slice(&first);
        Ok(())
    }

    /// Calls `on_message` for each message of a packet that
    /// [`Encoder::encode_packet`](super::Encoder::encode_packet) made.
    ///
    /// On an error `on_message` may have been called for the messages before the fault.
    pub fn decode_packet(
        &self,
        mut packet: &[u8],
        mut on_message: impl FnMut(&[u8]),
    ) -> Result<(), DecodeError> {
        while !packet.is_empty() {
            self.decode_run(take_packet(&mut packet)?, |message| on_message(&message))?;
        }
        Ok(())
    }

    fn take(&mut self, announcement: Announcement) -> Result<(), DecodeError> {
        match announcement {
            Announcement::Template { number, replaces, bytes } => {
                self.add_template(number, replaces, bytes)
            }
            Announcement::Addition { number, key, part } => {
                let (start, length) = (usize::from(part.offset), usize::from(part.length));
                let template = self.template_mut(number)?;
                if start + length > template.bytes.len() {
                    return Err(DecodeError::Malformed);
                }
                template.add_entry(key, Entry::Part { start, end: start + length })
            }
            Announcement::Composite { number, key, shape, parts } => {
                if self.config.profile != Profile::Gmc2006Plus {
                    return Err(DecodeError::Malformed);
                }
                let template = self.template_mut(number)?;
                for &part in parts {
                    template.part(part)?;
                }
                template.add_entry(key, Entry::Composite { shape, parts: parts.into() })
            }
            Announcement::Frequencies { number, frequencies } => {
                self.template_mut(number)?.codes = Some(CodeSet::new(&frequencies));
                Ok(())
            }
        }
    }

    fn add_template(
        &mut self,
        number: u16,
        replaces: Option<u16>,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        if let Some(known) = self.templates.iter().find(|template| template.number == number) {
            return if known.bytes == bytes { Ok(()) } else { Err(DecodeError::Malformed) };
        }
        if bytes.len() > self.config.max_template_bytes {
            return Err(DecodeError::TooManyTemplates);
        }
        self.templates.retain(|template| Some(template.number) != replaces);
        if self.templates.len() >= usize::from(self.config.max_templates) {
            return Err(DecodeError::TooManyTemplates);
        }
        let entries = (0..keys(self.config.profile)).map(|_| None).collect();
        self.templates.push(Template { number, bytes: bytes.to_vec(), entries, codes: None });
        Ok(())
    }

    fn template_mut(&mut self, number: u16) -> Result<&mut Template, DecodeError> {
        let found = self.templates.iter_mut().find(|template| template.number == number);
        found.ok_or(DecodeError::NotAnnounced)
    }

    fn decode_run(
        &self,
        mut packet: &[u8],
        mut on_message: impl FnMut(Vec<u8>),
    ) -> Result<(), DecodeError> {
        let header = Header::read(&mut packet)?;
        let mut payload = Vec::new();
        let Some(TemplateUse { number, coded }) = header.template else {
            self.unpack(header.deflate, packet, self.config.max_message, &mut payload)?;
            on_message(payload);
            return Ok(());
        };
        let template = self.templates.iter().find(|template| template.number == number);
        let template = template.ok_or(DecodeError::NotAnnounced)?;
        if coded {
            let codes = template.codes.as_ref().ok_or(DecodeError::NotAnnounced)?;
            codes.decode(packet, &mut payload)?;
        } else {
            let limit = self.config.max_message * MAX_EXPANSION;
            self.unpack(header.deflate, packet, limit, &mut payload)?;
        }
        let plus = self.config.profile == Profile::Gmc2006Plus;
        let mut codes = &payload[..];
        let mut message = vec![];
        while let Some((&code, rest)) = codes.split_first() {
            codes = rest;
            if plus && code == END {
                on_message(core::mem::take(&mut message));
                continue;
            }
            template.expand(code, &mut codes, plus, &mut message)?;
            if message.len() > self.config.max_message {
                return Err(DecodeError::MessageTooLarge);
            }
        }
        on_message(message);
        Ok(())
    }

    fn unpack(
        &self,
        deflate: bool,
        payload: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        if deflate {
            return Deflate.decompress(payload, limit, out).map_err(|error| match error {
                CodecError::TooLarge => DecodeError::MessageTooLarge,
                _ => DecodeError::Malformed,
            });
        }
        if payload.len() > limit {
            return Err(DecodeError::MessageTooLarge);
        }
        out.extend_from_slice(payload);
        Ok(())
    }
}

impl Template {
    fn add_entry(&mut self, key: u8, entry: Entry) -> Result<(), DecodeError> {
        let place = self.entries.get_mut(usize::from(key)).ok_or(DecodeError::Malformed)?;
        match place {
            Some(known) if *known != entry => Err(DecodeError::Malformed),
            _ => {
                *place = Some(entry);
                Ok(())
            }
        }
    }

    fn entry(&self, key: u8) -> Result<&Entry, DecodeError> {
        let entry = self.entries.get(usize::from(key)).ok_or(DecodeError::Malformed)?;
        entry.as_ref().ok_or(DecodeError::NotAnnounced)
    }

    fn part(&self, key: u8) -> Result<&[u8], DecodeError> {
        match self.entry(key)? {
            Entry::Part { start, end } => Ok(&self.bytes[*start..*end]),
            Entry::Composite { .. } => Err(DecodeError::Malformed),
        }
    }

    /// Appends the bytes for `code` and its operands, which are read from the start of `codes`.
    fn expand(
        &self,
        code: u8,
        codes: &mut &[u8],
        plus: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        match code {
            ESCAPE => {
                let length = read_u8(codes)?;
                out.extend_from_slice(take(codes, length.into())?);
            }
            NUMBER if plus => {
                let length = usize::from(read_u8(codes)?);
                read_number(length, codes, out)?;
            }
            key => match self.entry(key)? {
                Entry::Part { start, end } => out.extend_from_slice(&self.bytes[*start..*end]),
                Entry::Composite { shape, parts } => {
                    for (index, &part) in parts.iter().enumerate() {
                        if index > 0 || shape.hole_before {
                            read_hole(codes, out)?;
                        }
                        out.extend_from_slice(self.part(part)?);
                    }
                    if shape.hole_after {
                        read_hole(codes, out)?;
                    }
                }
            },
        }
        Ok(())
    }
}

fn read_hole(codes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    match read_u8(codes)? {
        length @ 0..=MAX_HOLE => out.extend_from_slice(take(codes, length.into())?),
        kind => {
            let length = kind.checked_sub(HOLE_NUMBER).ok_or(DecodeError::Malformed)?;
            read_number(length.into(), codes, out)?;
        }
    }
    Ok(())
}

fn read_number(length: usize, codes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    if !(1..=MAX_BYTES).contains(&length) {
        return Err(DecodeError::Malformed);
    }
    Number::read(take(codes, length)?).write_text(out);
    Ok(())
}
