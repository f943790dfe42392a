//! What a struct of a document holds.

use crate::error::Error;
use crate::json;
use crate::limits::MAX_DEPTH;
use crate::reader::Reader;

/// The content of an item. Each unit of its length has a clock of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// The number of deleted units.
    Deleted(u64),
    /// Text. Its length is counted in UTF-16.
    Text(&'a str),
    /// `count` values, as JSON or as lib0 writes them.
    Values { count: u64, are_json: bool, bytes: &'a [u8] },
    /// Content of length 1, in its encoded form.
    Single(&'a [u8]),
}

pub(crate) const DELETED: u8 = 1;
const JSON: u8 = 2;
pub(crate) const BINARY: u8 = 3;
pub(crate) const TEXT: u8 = 4;
pub(crate) const EMBED: u8 = 5;
pub(crate) const FORMAT: u8 = 6;
const TYPE: u8 = 7;
const ANY: u8 = 8;
const DOCUMENT: u8 = 9;

impl<'a> Content<'a> {
    /// Reads the content of this kind.
    pub(crate) fn read(reader: &mut Reader<'a>, kind: u8) -> Result<Self, Error> {
        let start = reader.at();
        match kind {
            DELETED => return Ok(Content::Deleted(reader.number()?)),
            TEXT => return Ok(Content::Text(reader.text()?)),
            JSON | ANY => {
                let (count, are_json) = (reader.count()?, kind == JSON);
                let start = reader.at();
                for _ in 0..count {
                    value(reader, are_json)?;
                }
                return Ok(Content::Values { count, are_json, bytes: reader.since(start) });
            }
            BINARY => drop(reader.blob()?),
            EMBED => json_text(reader)?,
            FORMAT => {
                reader.text()?;
                json_text(reader)?;
            }
            TYPE => match reader.number()? {
                // An array, a map, a text, a fragment, a text of XML.
                0 | 1 | 2 | 4 | 6 => {}
                // An element or a hook of XML has a name.
                3 | 5 => drop(reader.text()?),
                _ => return Err(Error::Malformed { what: "a type", at: start }),
            },
            DOCUMENT => {
                reader.text()?;
                let at = reader.at();
                // Yjs reads fields of the options.
                if any(reader)? != OBJECT {
                    return Err(Error::Malformed { what: "a subdocument", at });
                }
            }
            _ => return Err(Error::Malformed { what: "a struct", at: start }),
        }
        Ok(Content::Single(reader.since(start)))
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Content::Deleted(length) | Content::Values { count: length, .. } => *length,
            Content::Text(text) => text.encode_utf16().count() as u64,
            Content::Single(_) => 1,
        }
    }
}

/// Skips one of several values.
pub(crate) fn value(reader: &mut Reader<'_>, is_json: bool) -> Result<(), Error> {
    if !is_json {
        return any(reader).map(drop);
    }
    let at = reader.at();
    match reader.text()? {
        "undefined" => Ok(()),
        text => json::check(text, at),
    }
}

fn json_text(reader: &mut Reader<'_>) -> Result<(), Error> {
    let at = reader.at();
    json::check(reader.text()?, at)
}

const UNDEFINED: u8 = 127;
const NULL: u8 = 126;
const INTEGER: u8 = 125;
const FLOAT32: u8 = 124;
const FLOAT64: u8 = 123;
const BIG_INTEGER: u8 = 122;
const FALSE: u8 = 121;
const TRUE: u8 = 120;
const STRING: u8 = 119;
const OBJECT: u8 = 118;
const ARRAY: u8 = 117;
const BYTES: u8 = 116;

/// Skips a value as lib0 writes it. Returns its kind.
fn any(reader: &mut Reader<'_>) -> Result<u8, Error> {
    let start = reader.at();
    // For each array and object around the next value: the number of values that are left, and
    // whether they have keys.
    let mut open = [(0_u64, false); MAX_DEPTH];
    let mut depth = 0_usize;
    let mut outer = None;
    loop {
        if let Some((left, has_keys)) = depth.checked_sub(1).and_then(|last| open.get_mut(last)) {
            if *left == 0 {
                depth -= 1;
                if depth == 0 {
                    break;
                }
                continue;
            }
            *left -= 1;
            if *has_keys {
                reader.text()?;
            }
        }
        let at = reader.at();
        let kind = reader.byte()?;
        outer = outer.or(Some(kind));
        match kind {
            UNDEFINED | NULL | FALSE | TRUE => {}
            INTEGER => reader.integer()?,
            FLOAT32 => drop(reader.take(4)?),
            FLOAT64 | BIG_INTEGER => drop(reader.take(8)?),
            STRING => drop(reader.text()?),
            BYTES => drop(reader.blob()?),
            OBJECT | ARRAY => {
                let slot =
                    open.get_mut(depth).ok_or(Error::TooDeep { at: start, limit: MAX_DEPTH })?;
                *slot = (reader.count()?, kind == OBJECT);
                depth += 1;
            }
            _ => return Err(Error::Malformed { what: "a value", at }),
        }
        if depth == 0 {
            break;
        }
    }
    Ok(outer.unwrap_or(UNDEFINED))
}
