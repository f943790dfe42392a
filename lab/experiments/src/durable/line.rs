//! What people write: texts of a given size, each of which says who wrote it and which of theirs it is.

use oorandom::Rand32;

/// The name of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Line {
    /// Counted over all rooms.
    pub(super) author: u32,
    /// Counted from 0.
    pub(super) number: u32,
}

/// All texts of a run: the same seed gives the same ones.
#[derive(Debug)]
pub(super) struct Texts {
    size: usize,
    /// Letters, of which every text takes some from another place.
    letters: String,
}

/// Letters that texts are taken from. More than a compressor's window would gain nothing: texts are never the same.
const LETTERS: usize = 64 << 10;

impl Texts {
    /// Texts of `size` bytes, or a few more if the names need them.
    pub(super) fn new(size: usize, seed: u64) -> Self {
        let mut random = Rand32::new(seed);
        let alphabet = b"abcdefghijklmnopqrstuvwxyz      ";
        let letter = |_| char::from(alphabet[random.rand_range(0..32) as usize]);
        Texts { size, letters: (0..LETTERS + size).map(letter).collect() }
    }

    /// The text of this name.
    pub(super) fn write(&self, line: Line) -> String {
        let Line { author, number } = line;
        let mut text = format!(r#"{{"by":{author},"n":{number},"text":""#);
        // Knuth's multiplier of MMIX spreads the places.
        let place = (u64::from(author) << 32 | u64::from(number))
            .wrapping_mul(6_364_136_223_846_793_005)
            >> 48;
        let count = self.size.saturating_sub(text.len() + 2);
        text.push_str(&self.letters[place as usize..][..count]);
        text.push_str("\"}");
        text
    }

    /// The name of a text, if it is exactly one of these.
    pub(super) fn read(&self, text: &[u8]) -> Option<Line> {
        let text = std::str::from_utf8(text).ok()?;
        let (author, rest) = text.strip_prefix(r#"{"by":"#)?.split_once(r#","n":"#)?;
        let (number, _) = rest.split_once(',')?;
        let line = Line { author: author.parse().ok()?, number: number.parse().ok()? };
        (self.write(line) == text).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_size_and_say_which_they_are() {
        let texts = Texts::new(150, 7);
        for author in [0, 199] {
            for number in [0, 12_345] {
                let line = Line { author, number };
                let text = texts.write(line);
                assert_eq!(text.len(), 150);
                assert_eq!(texts.read(text.as_bytes()), Some(line));
                let mut altered = text.clone().into_bytes();
                altered[80] ^= 1;
                assert_eq!(texts.read(&altered), None);
                serde_json::from_str::<serde_json::Value>(&text).unwrap();
            }
        }
        assert_eq!(texts.read(b"hello"), None);
    }
}
