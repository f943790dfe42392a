//! How the messages of a channel are compressed (wire W45 to W51).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use groupwire_codecs::{Choice, Codec, Filter, OptionsError};

use crate::wire::coding::Coding;
use crate::wire::io::{Reader, Write};
use crate::wire::record::Record;
use crate::{Error, Qos};

/// How the messages of a channel are compressed on the link of one participant. Written as a name:
/// `template`, `off`, `auto`, or a codec such as `lz4`, `zstd-3` or `delta4+lz4`.
///
/// ```
/// use groupwire_session::Compress;
/// let compress: Compress = "delta1+lz4".parse()?;
/// assert_eq!(compress.to_string(), "delta1+lz4");
/// assert!("zip".parse::<Compress>().unwrap_err().to_string().contains("lz4"));
/// # Ok::<(), groupwire_session::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compress {
    /// All messages of a packet are coded together by the crate `groupwire-gmc`, which sends only
    /// the differences between them and from earlier messages.
    #[default]
    Template,
    /// Messages are not compressed.
    Off,
    /// Each message is packed alone, by the codec with which it arrives soonest. The choice depends
    /// on the message's size, the link's rate and the costs of codecs.
    Auto,
    /// Each message is packed alone, by this codec. An end without the codec does not compress.
    Named(Choice),
}

/// The traffic of one channel since the client was made.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Messages to the server. A message that is sent again after a disconnection counts again.
    pub sent: Traffic,
    /// Delivered messages from the server. A client's own transactions are not sent back and do not
    /// count.
    pub received: Traffic,
}

/// The traffic of one channel in one direction. Bytes are counted without keys and headers.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages that were not coded together with others: packed alone by a codec, or not
    /// compressed.
    pub messages: u64,
    /// Their bytes before compression.
    pub bytes_before: u64,
    /// Bytes of [`Traffic::messages`] after compression.
    pub bytes_after: u64,
    /// Messages that were coded together with others of their packet ([`Compress::Template`]). The
    /// bytes of a single message are not known then; [`Stats`](crate::client::Stats) has the
    /// totals.
    pub coded_messages: u64,
    /// Their bytes before compression.
    pub coded_bytes: u64,
    /// The codec of the last message that was not coded together with others. [`Choice::NONE`] if
    /// it was not compressed. The level of received messages is not known.
    pub codec: Option<Choice>,
}

/// The bits of a packed message's first byte that name the codec.
const CODEC: u8 = 15;

/// The number of the lowest bit of the filter's number in a packed message's first byte.
const FILTER_SHIFT: u32 = 5;

/// Bit 4 of a packed message's first byte: the message needs a dictionary. Sessions use no
/// dictionaries (wire W47).
const DICTIONARY: u8 = 16;

impl Compress {
    /// Returns an error if the codec is known at this end and does not have this level.
    pub(crate) fn check(self, codecs: &[&dyn Codec]) -> Result<(), Error> {
        let Compress::Named(Choice { codec, level: Some(level), .. }) = self else { return Ok(()) };
        let Some(codec) = codecs.iter().find(|known| known.number() == codec) else {
            return Ok(());
        };
        let checked = match codec.levels() {
            Some(levels) => levels.pick(codec.name(), Some(level)).map(drop),
            None => Err(OptionsError::NoLevels { codec: codec.name() }),
        };
        checked.map_err(|error| Error::InvalidCompress { why: error.to_string() })
    }

    /// The coding of the payloads that a channel's messages are sent in (wire W47).
    pub(crate) fn coding(self, qos: &Qos) -> Coding {
        match self {
            Compress::Template if !qos.private => Coding::Shared,
            _ => Coding::Alone,
        }
    }

    /// True if a channel's messages can be coded once for many receivers (wire W60). Frames of
    /// sound cannot: they do not wait for the tick at which that is done (wire W119).
    pub(crate) fn is_shareable(self, qos: &Qos) -> bool {
        self.coding(qos) == Coding::Shared && !qos.has_speakers()
    }

    /// Writes the compression into an `OPEN` or `COMPRESS` frame (wire W45). The level is not
    /// written: each sender chooses its own.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self {
            Compress::Template => out.u8(0),
            Compress::Off => out.u8(1),
            Compress::Auto => out.u8(2),
            Compress::Named(choice) => {
                out.u8(3);
                out.u8(choice.codec & CODEC | choice.filter.number() << FILTER_SHIFT);
            }
        }
    }

    /// Reads what [`Compress::write`] wrote, with the default level.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match reader.u8()? {
            0 => Compress::Template,
            1 => Compress::Off,
            2 => Compress::Auto,
            3 => match reader.u8()? {
                coding if coding & DICTIONARY != 0 => return Err(reader.malformed()),
                // An unknown filter is treated as an unknown codec: messages are not compressed
                // (wire W45).
                coding => choice_of(coding).map_or(Compress::Off, Compress::Named),
            },
            _ => return Err(reader.malformed()),
        })
    }
}

impl Traffic {
    /// Counts a message that was sent or received. `choice`: the codec that it was packed with.
    pub(crate) fn count(&mut self, record: &Record<'_>, choice: Option<Choice>) {
        let bytes = record.bytes.len() as u64;
        if record.coding == Coding::Shared {
            self.coded_messages += 1;
            self.coded_bytes += bytes;
            return;
        }
        self.messages += 1;
        self.bytes_before += bytes;
        self.bytes_after += record.packed.map_or(bytes, |packed| packed.len() as u64);
        self.codec = Some(choice.unwrap_or(Choice::NONE));
    }
}

/// The codec and filter that the first byte of a packed message names, at the default level.
pub(crate) fn choice_of(coding: u8) -> Option<Choice> {
    let filter = Filter::by_number(coding >> FILTER_SHIFT)?;
    Some(Choice { filter, ..Choice::codec(coding & CODEC) })
}

impl FromStr for Compress {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "template" => Compress::Template,
            "off" => Compress::Off,
            "auto" => Compress::Auto,
            name => Compress::Named(
                name.parse().map_err(|error| Error::InvalidCompress { why: explain(&error) })?,
            ),
        })
    }
}

fn explain(error: &groupwire_codecs::ChoiceError) -> String {
    alloc::format!("{error}; or template, off, auto")
}

impl fmt::Display for Compress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compress::Template => f.write_str("template"),
            Compress::Off => f.write_str("off"),
            Compress::Auto => f.write_str("auto"),
            Compress::Named(choice) => choice.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_codecs::ALL;

    #[test]
    fn names_are_parsed_and_printed() {
        for name in ["template", "off", "auto", "lz4", "delta1+zlib"] {
            assert_eq!(name.parse::<Compress>().unwrap().to_string(), name);
        }
        for name in ["", "lz5", "zlib-x", "gmc"] {
            let error = name.parse::<Compress>().unwrap_err().to_string();
            assert!(error.contains("template"), "{error}");
        }
    }

    #[test]
    fn w45_round_trip_without_the_level() {
        for compress in [
            Compress::Template,
            Compress::Off,
            Compress::Auto,
            Compress::Named(Choice { filter: Filter::Delta1, ..Choice::codec(12) }),
        ] {
            let mut out = Vec::new();
            compress.write(&mut out);
            assert_eq!(Compress::read(&mut Reader::new(&out, "OPEN")), Ok(compress));
        }
        for malformed in [&[4][..], &[3], &[], &[3, 16 | 1]] {
            assert!(Compress::read(&mut Reader::new(malformed, "OPEN")).is_err());
        }
    }

    #[test]
    fn an_error_names_the_codec_that_lacks_the_level() {
        let lz4 = Compress::Named(Choice { level: Some(99), ..Choice::codec(1) });
        let error = lz4.check(ALL).unwrap_err().to_string();
        assert!(error.contains("lz4"), "{error}");
        assert_eq!(
            Compress::Named(Choice { level: Some(99), ..Choice::codec(15) }).check(ALL),
            Ok(())
        );
    }
}
