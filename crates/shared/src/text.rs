//! Texts as JavaScript has them: Unicode, and possibly halves of characters.
//!
//! Programs in JavaScript cut and join texts at any UTF-16 unit, so that JSON on the wire may have
//! lone surrogates (`"\ud83d"`), which a [`str`] cannot hold. A [`Text`] holds them, as WTF-8:
//! UTF-8 in which a lone surrogate takes three bytes.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

/// A text of shared data. Clones share the bytes.
///
/// ```
/// use groupwire_shared::Text;
///
/// let text = Text::from("é🙂");
/// assert_eq!(text.as_str(), Some("é🙂"));
/// assert_eq!(text.units().count(), 3);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

impl Text {
    /// The text; `None` if it has lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok()
    }

    /// The text, with U+FFFD for each lone surrogate.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        match self.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(
                char::decode_utf16(self.units())
                    .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect(),
            ),
        }
    }

    /// The UTF-16 units, in which JavaScript counts lengths.
    pub fn units(&self) -> impl Iterator<Item = u16> + '_ {
        Units { bytes: &self.0, low: None }
    }

    /// Compares by UTF-16 units, as JavaScript does. The derived order is that of the bytes.
    pub(crate) fn cmp_units(&self, other: &Text) -> Ordering {
        self.units().cmp(other.units())
    }

    /// True if the text has at most this many UTF-16 units.
    pub(crate) fn is_within(&self, units: usize) -> bool {
        // A unit takes between one and three bytes.
        self.0.len() <= units || self.units().nth(units).is_none()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_bytes().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text.into_bytes().into())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_string_lossy())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.to_string_lossy())
    }
}

/// The UTF-16 units of WTF-8.
struct Units<'a> {
    bytes: &'a [u8],
    /// The second half of a character whose first half was returned.
    low: Option<u16>,
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let (&first, _) = self.bytes.split_first()?;
        let (length, head) = match first {
            0..0x80 => (1, first),
            0x80..0xe0 => (2, first & 0x1f),
            0xe0..0xf0 => (3, first & 0xf),
            0xf0.. => (4, first & 7),
        };
        let (character, rest) = self.bytes.split_at_checked(length).unwrap_or((self.bytes, &[]));
        self.bytes = rest;
        let tail = character.get(1..).unwrap_or_default();
        let code = tail.iter().fold(u32::from(head), |code, byte| code << 6 | u32::from(byte & 63));
        let Some(above) = code.checked_sub(0x1_0000) else { return Some(code as u16) };
        self.low = Some(0xdc00 | (above & 0x3ff) as u16);
        Some(0xd800 | (above >> 10) as u16)
    }
}

/// A text that is being put together.
#[derive(Debug, Default)]
pub(crate) struct TextBuilder(Vec<u8>);

impl TextBuilder {
    /// Adds bytes of WTF-8. If a first and a second half of a character meet, they become the
    /// character.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        match bytes {
            [0xed, second @ 0xb0..=0xbf, third, rest @ ..] => {
                let code = 0xd000 | u16::from(second & 63) << 6 | u16::from(third & 63);
                self.push_unit(code);
                self.0.extend_from_slice(rest);
            }
            _ => self.0.extend_from_slice(bytes),
        }
    }

    /// Adds a UTF-16 unit, which may be half of a character.
    pub(crate) fn push_unit(&mut self, unit: u16) {
        if let (0xdc00..0xe000, &[.., 0xed, second @ 0xa0..0xb0, third]) = (unit, &self.0[..]) {
            let high = u32::from(second & 15) << 6 | u32::from(third & 63);
            let code = 0x1_0000 + (high << 10 | u32::from(unit & 0x3ff));
            if let Some(character) = char::from_u32(code) {
                self.0.truncate(self.0.len() - 3);
                return self.push_char(character);
            }
        }
        match char::from_u32(u32::from(unit)) {
            Some(character) => self.push_char(character),
            None => {
                let [middle, low] = [(unit >> 6 & 63) as u8, (unit & 63) as u8];
                self.0.extend_from_slice(&[0xed, 0x80 | middle, 0x80 | low]);
            }
        }
    }

    pub(crate) fn finish(self) -> Text {
        Text(self.0.into())
    }

    fn push_char(&mut self, character: char) {
        self.0.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The text of UTF-16 units.
pub(crate) fn of_units(units: impl IntoIterator<Item = u16>) -> Text {
    let mut text = TextBuilder::default();
    units.into_iter().for_each(|unit| text.push_unit(unit));
    text.finish()
}

/// The texts one after the other.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Text {
    let mut whole = TextBuilder::default();
    texts.into_iter().for_each(|text| whole.push(&text.0));
    whole.finish()
}

impl From<&Text> for String {
    fn from(text: &Text) -> String {
        text.to_string_lossy().into_owned()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Text::from(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_kept_and_join() {
        let units: Vec<u16> = "aé€🙂".encode_utf16().chain([0xd83d]).collect();
        let text = of_units(units.iter().copied());
        assert_eq!(text.units().collect::<Vec<_>>(), units);
        assert_eq!((text.as_str(), &*text.to_string_lossy()), (None, "aé€🙂\u{fffd}"));
        let rest = of_units([0xde42, 0xdc00]);
        let whole = joined([&text, &rest]);
        assert_eq!(whole.units().collect::<Vec<_>>(), [&units[..], &[0xde42, 0xdc00]].concat());
        assert_eq!(joined([&of_units([0xd83d]), &of_units([0xde42])]), Text::from("🙂"));
    }

    #[test]
    fn the_order_is_that_of_javascript() {
        // U+1F642 begins with the unit D83D, which is less than E000.
        assert_eq!(Text::from("🙂").cmp_units(&Text::from("\u{e000}")), Ordering::Less);
        assert_eq!(Text::from("a").cmp_units(&Text::from("ab")), Ordering::Less);
        assert!(Text::from("🙂a").is_within(3) && !Text::from("🙂ab").is_within(3));
    }
}
