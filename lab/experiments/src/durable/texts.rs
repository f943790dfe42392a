//! The texts of transactions: of a given size, each with the number of its author and its own
//! number.

use oorandom::Rand32;

/// The name of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextId {
    /// The author's number, counted over all rooms.
    pub(crate) author: u32,
    /// The number of the text among the author's texts, from 0.
    pub(crate) number: u32,
}

/// All texts of a run: the same seed gives the same ones.
#[derive(Debug)]
pub(crate) struct Texts {
    size: usize,
    /// Words, from which each text takes a part that begins at another place.
    words: String,
}

/// The bytes of `words`: far more than the compression remembers.
const STORE: usize = 1 << 20;

/// Common English words, which make a text as compressible as what people write.
const WORDS: &str = "the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not \
    what all were we when your can said there use an each which she do how their if will up other about out many then them \
    these so some her would make like him into time has look two more write go see number no way could people my than first \
    water been call who oil its now find long down day did get come made may part";

impl Texts {
    /// Texts of `size` bytes, or a few more if the names need them.
    pub(crate) fn new(size: usize, seed: u64) -> Self {
        let mut random = Rand32::new(seed);
        let all: Vec<&str> = WORDS.split_whitespace().collect();
        let mut words = String::with_capacity(STORE + size);
        while words.len() < STORE + size {
            words.push_str(all[random.rand_range(0..all.len() as u32) as usize]);
            words.push(' ');
        }
        Texts { size, words }
    }

    /// The text of this name.
    pub(crate) fn write(&self, line: TextId) -> String {
        let TextId { author, number } = line;
        let mut text = format!(r#"{{"by":{author},"n":{number},"text":""#);
        // Knuth's multiplier of MMIX spreads the places in `words`.
        let name = u64::from(author) << 32 | u64::from(number);
        let place = name.wrapping_mul(6_364_136_223_846_793_005) >> 44;
        let count = self.size.saturating_sub(text.len() + 2);
        text.push_str(&self.words[place as usize..][..count]);
        text.push_str("\"}");
        text
    }

    /// The name of a text, if it is exactly one of these.
    pub(crate) fn read(&self, text: &[u8]) -> Option<TextId> {
        let text = std::str::from_utf8(text).ok()?;
        let (author, rest) = text.strip_prefix(r#"{"by":"#)?.split_once(r#","n":"#)?;
        let (number, _) = rest.split_once(',')?;
        let line = TextId { author: author.parse().ok()?, number: number.parse().ok()? };
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
                let line = TextId { author, number };
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
