//! Runs of characters that nothing predicts, such as the digits of a UUID. Their characters are
//! coded as equally probable ones of an alphabet, which takes no more bits than they hold. To
//! "code" is to write in the encoder and to read in the decoder.

use crate::range_coder::Coder;

/// An alphabet of random characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// A UUID of lower case, or its end. The run counts its digits alone.
    Uuid,
    LowerHex,
    UpperHex,
    LowerBase36,
    UpperBase36,
    Base62,
    Base64Url,
    Base64,
}

/// A run of characters of an alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) alphabet: Alphabet,
    /// The number of its characters.
    pub(crate) length: usize,
}

/// The most characters of a run. A longer one consists of several.
pub(crate) const LENGTH_MAX: usize = 255;
/// Fewer hexadecimal digits than this are no run.
const HEX_MIN: usize = 6;
/// Fewer characters of larger alphabets than this are no run.
const MIXED_MIN: usize = 10;
/// The fewest random bytes.
const BYTES_MIN: usize = 6;
/// How many bytes are looked at to tell whether they are random. Of 32 random bytes, 30 are
/// different from those before them.
const BYTES_SEEN: usize = 32;
/// The digits of a UUID.
const UUID_DIGITS: usize = 32;
/// The bytes of a UUID.
const UUID_BYTES: usize = UUID_DIGITS + HYPHENS.len();
/// A UUID has a hyphen where this many digits are left.
const HYPHENS: [usize; 4] = [12, 16, 20, 24];

impl Alphabet {
    pub(crate) const ALL: [Alphabet; 8] = [
        Alphabet::Uuid,
        Alphabet::LowerHex,
        Alphabet::UpperHex,
        Alphabet::LowerBase36,
        Alphabet::UpperBase36,
        Alphabet::Base62,
        Alphabet::Base64Url,
        Alphabet::Base64,
    ];

    /// What it has behind the digits: the number of small letters and of capitals, and the marks.
    fn parts(self) -> (u8, u8, &'static [u8]) {
        match self {
            Alphabet::Uuid | Alphabet::LowerHex => (6, 0, b""),
            Alphabet::UpperHex => (0, 6, b""),
            Alphabet::LowerBase36 => (26, 0, b""),
            Alphabet::UpperBase36 => (0, 26, b""),
            Alphabet::Base62 => (26, 26, b""),
            Alphabet::Base64Url => (26, 26, b"-_"),
            Alphabet::Base64 => (26, 26, b"+/"),
        }
    }

    /// The number of its characters.
    pub(crate) fn size(self) -> u8 {
        let (small, capital, marks) = self.parts();
        10 + small + capital + marks.len() as u8
    }

    /// The character with this number: digits, small letters, capitals and marks, in this order.
    pub(crate) fn character(self, number: u8) -> u8 {
        let (small, capital, marks) = self.parts();
        let letters = small + capital;
        match number {
            0..10 => b'0' + number,
            _ if number - 10 < small => b'a' + number - 10,
            _ if number - 10 < letters => b'A' + number - 10 - small,
            _ => marks.get(usize::from(number - 10 - letters)).copied().unwrap_or(b'0'),
        }
    }

    /// The number of a character.
    pub(crate) fn number(self, character: u8) -> Option<u8> {
        let (small, capital, marks) = self.parts();
        let behind = |first: u8| character.wrapping_sub(first);
        match character {
            b'0'..=b'9' => Some(behind(b'0')),
            _ if behind(b'a') < small => Some(10 + behind(b'a')),
            _ if behind(b'A') < capital => Some(10 + small + behind(b'A')),
            _ => {
                let mark = marks.iter().position(|&mark| mark == character)?;
                Some(10 + small + capital + mark as u8)
            }
        }
    }

    fn has_all(self, characters: &[u8]) -> bool {
        characters.iter().all(|&character| self.number(character).is_some())
    }
}

impl Run {
    /// The run with which a string begins, if its characters look random.
    pub(crate) fn at_start(string: &[u8]) -> Option<Self> {
        let string = &string[..string.len().min(LENGTH_MAX + 1)];
        if let Some(run) = uuid_at_start(string) {
            return Some(run);
        }
        let word = run_of(string, b"");
        if word.len() >= HEX_MIN && has_letters_and_digits(word) {
            let hex = [Alphabet::LowerHex, Alphabet::UpperHex];
            if let Some(alphabet) = hex.into_iter().find(|alphabet| alphabet.has_all(word)) {
                return Some(Run { alphabet, length: word.len() });
            }
        }
        let longer = [(b"-_", Alphabet::Base64Url), (b"+/", Alphabet::Base64)];
        let longer = longer.map(|(marks, alphabet)| (run_of(string, marks), alphabet));
        let longer = longer.into_iter().filter(|(run, _)| run.len() > word.len());
        for (run, alphabet) in longer {
            if is_mixed(run) && !ends_with_uuid(run, string) {
                return Some(Run { alphabet, length: run.len() });
            }
        }
        let plain = [Alphabet::LowerBase36, Alphabet::UpperBase36, Alphabet::Base62];
        let alphabet = plain.into_iter().find(|alphabet| alphabet.has_all(word))?;
        is_mixed(word).then_some(Run { alphabet, length: word.len() })
    }

    /// True if a hyphen stands before the character with this number.
    pub(crate) fn has_hyphen_before(self, number: usize) -> bool {
        let is_uuid = self.alphabet == Alphabet::Uuid;
        is_uuid && number > 0 && HYPHENS.contains(&(self.length - number))
    }

    /// True if the character with this number says the version or the variant of a UUID.
    pub(crate) fn is_known_field(self, number: usize) -> bool {
        self.alphabet == Alphabet::Uuid && [16, 20].contains(&(self.length - number))
    }
}

/// Whether the bytes look random. Fewer than [`BYTES_MIN`] do not: it costs more to say so than the
/// byte contexts waste on them.
pub(crate) fn are_bytes(bytes: &[u8]) -> bool {
    let seen = &bytes[..bytes.len().min(BYTES_SEEN)];
    let is_new = |&(at, byte): &(usize, &u8)| !seen[..at].contains(byte);
    let different = seen.iter().enumerate().filter(is_new).count();
    bytes.len() >= BYTES_MIN && different * 4 >= seen.len() * 3 && !bytes.is_ascii()
}

/// Codes one of `count` equally probable numbers.
pub(crate) fn code_even<C: Coder + ?Sized>(coder: &mut C, count: u8, given: u8) -> u8 {
    let (mut low, mut high) = (0, u32::from(count));
    let given = u32::from(given);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let p = ((high - middle) << 16) / (high - low);
        if coder.bit(p, given >= middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u8
}

/// The letters and digits at the start of a string, with `marks` among them.
fn run_of<'a>(string: &'a [u8], marks: &[u8]) -> &'a [u8] {
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || marks.contains(byte);
    let length = string.iter().take_while(|byte| is_in(byte)).count();
    &string[..length.min(LENGTH_MAX)]
}

fn has_letters_and_digits(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit) && !word.iter().all(u8::is_ascii_digit)
}

/// Whether small letters, capitals and digits alternate as often as in random characters, and not
/// as rarely as in words. Marks belong to what is before them.
fn is_mixed(run: &[u8]) -> bool {
    let kind = |byte: &u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        _ => None,
    };
    let (mut parts, mut last) = (0, None);
    for kind in run.iter().filter_map(kind) {
        parts += usize::from(last != Some(kind));
        last = Some(kind);
    }
    run.len() >= MIXED_MIN && has_letters_and_digits(run) && parts * 4 >= run.len() + 4
}

/// Whether a UUID begins in the run, behind a mark.
fn ends_with_uuid(run: &[u8], string: &[u8]) -> bool {
    let marks = run.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_alphanumeric());
    let mut uuids = marks.filter_map(|(at, _)| uuid_at_start(&string[at + 1..]));
    uuids.any(|uuid| uuid.length == UUID_DIGITS)
}

/// The UUID, or the end of one, with which a string begins.
fn uuid_at_start(string: &[u8]) -> Option<Run> {
    let string = &string[..string.len().min(UUID_BYTES + 1)];
    let is_part = |byte: &&u8| Alphabet::Uuid.number(**byte).is_some() || **byte == b'-';
    let part = &string[..string.iter().take_while(is_part).count()];
    let is_end =
        string.get(part.len()).is_none_or(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    let length = part.iter().filter(|&&byte| byte != b'-').count();
    if !is_end || !(HYPHENS[0] + 1..=UUID_DIGITS).contains(&length) {
        return None;
    }
    let run = Run { alphabet: Alphabet::Uuid, length };
    let mut bytes = part.iter();
    let has_its_hyphens = (0..length).all(|number| {
        (!run.has_hyphen_before(number) || bytes.next() == Some(&b'-'))
            && bytes.next().is_some_and(|&byte| byte != b'-')
    });
    (has_its_hyphens && bytes.next().is_none()).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range_coder::{RangeDecoder, RangeEncoder};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn at_start(string: &str) -> Option<(Alphabet, usize)> {
        Run::at_start(string.as_bytes()).map(|run| (run.alphabet, run.length))
    }

    #[test]
    fn identifiers_are_found_and_words_are_not() {
        use Alphabet::*;
        for (string, run) in [
            ("9f1c2d3e-4b5a-4677-8899-aabbccddeeff", (Uuid, 32)),
            // The end of one, behind what an earlier one had, too.
            ("3e-4b5a-4677-8899-aabbccddeeff/x", (Uuid, 26)),
            ("b81d6e04", (LowerHex, 8)),
            ("B81D6E04:", (UpperHex, 8)),
            ("k3jx09v2mq7t1z", (LowerBase36, 14)),
            ("01J9ZK3QWM5T2V8XR4YBN6CEDH", (UpperBase36, 26)),
            ("NffrFeUfNV2HibZ3k9Qp", (Base62, 20)),
            ("V1StGXR8_Z5jdHi6B-myT", (Base64Url, 21)),
            ("q83vEjRWeJq7zN3u/xAhMkM+9Zk1", (Base64, 28)),
        ] {
            assert_eq!(at_start(string), Some(run), "{string}");
        }
        for string in [
            "",
            "transition",
            "hello2024",
            "1234567890123",
            "snake_case_item_2",
            "deadbeef",
            "getElementById",
            "src/components/Button2",
        ] {
            assert_eq!(at_start(string), None, "{string}");
        }
        assert_eq!(at_start(&"a1".repeat(500)), Some((LowerHex, LENGTH_MAX)));
    }

    proptest! {
        #[test]
        fn even_numbers_take_what_they_hold(count in 1u8..100, given in proptest::collection::vec(any::<u8>(), 1..100)) {
            let given: Vec<u8> = given.into_iter().map(|number| number % count).collect();
            let mut packet = Vec::new();
            let mut coder = RangeEncoder::new(&mut packet);
            given.iter().for_each(|&number| _ = code_even(&mut coder, count, number));
            coder.finish();
            prop_assert!((packet.len() as f64) < f64::from(count).log2() * given.len() as f64 / 8.0 + 2.0);
            let mut coder = RangeDecoder::new(&packet);
            for &number in &given {
                prop_assert_eq!(code_even(&mut coder, count, 0), number);
            }
        }

        #[test]
        fn characters_have_numbers(character in any::<u8>()) {
            for alphabet in Alphabet::ALL {
                if let Some(number) = alphabet.number(character) {
                    prop_assert!(number < alphabet.size());
                    prop_assert_eq!(alphabet.character(number), character);
                }
            }
        }

        #[test]
        fn any_string_has_a_run_of_its_own_characters(string in proptest::collection::vec(0x20u8..0x7f, 0..60)) {
            if let Some(run) = Run::at_start(&string) {
                let size = run.length
                    + (0..run.length).filter(|&number| run.has_hyphen_before(number)).count();
                prop_assert!(size <= string.len());
                let characters = string[..size].iter();
                let others = characters.filter(|&&one| run.alphabet.number(one).is_none()).count();
                prop_assert_eq!(others, size - run.length);
            }
        }
    }
}
