//! Numbers recoded from text to binary (section 6.4 and Table 6 of the paper).

use alloc::vec::Vec;

/// The longest binary form, in bytes.
///
/// The paper's Table 6 ends at 3 (±8,388,607). With a fourth byte, timestamps in milliseconds of up
/// to 24 days fit, and so do those of the paper's own example messages.
pub(super) const MAX_BYTES: usize = 4;

/// An integer whose decimal text is exactly what the decoder will write for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(i32);

impl Number {
    /// The number that `text` is. `None` if it is no number, or if the decoder would write it
    /// differently.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        // The decoder would write "0" and "7" instead of "-0" and "007".
        let canonical = match digits {
            [b'0'] => !negative,
            [b'1'..=b'9', ..] => digits.len() <= 10 && digits.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if !canonical {
            return None;
        }
        let magnitude =
            digits.iter().fold(0_i64, |value, &digit| value * 10 + i64::from(digit - b'0'));
        let value = if negative { -magnitude } else { magnitude };
        i32::try_from(value).ok().filter(|&value| value != i32::MIN).map(Self)
    }

    /// The length of the binary form in bytes: 1 to [`MAX_BYTES`].
    pub(super) fn bytes(self) -> usize {
        match self.0.unsigned_abs() {
            0..=0x7f => 1,
            0x80..=0x7fff => 2,
            0x8000..=0x7f_ffff => 3,
            _ => 4,
        }
    }

    /// Appends the binary form: two's complement, most significant byte first.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_be_bytes()[MAX_BYTES - self.bytes()..]);
    }

    /// The number of a binary form of 1 to [`MAX_BYTES`] bytes.
    pub(super) fn read(binary: &[u8]) -> Self {
        let start = if binary.first().is_some_and(|&byte| byte >= 0x80) { -1 } else { 0 };
        Self(binary.iter().fold(start, |value, &byte| value << 8 | i32::from(byte)))
    }

    /// Appends the decimal digits.
    pub(super) fn write_text(self, out: &mut Vec<u8>) {
        if self.0 < 0 {
            out.push(b'-');
        }
        let start = out.len();
        let mut rest = self.0.unsigned_abs();
        loop {
            out.push(b'0' + (rest % 10) as u8);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out[start..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_those_of_table_6() {
        for (text, bytes) in [
            ("-127", 1),
            ("127", 1),
            ("128", 2),
            ("-128", 2),
            ("32767", 2),
            ("-32768", 3),
            ("8388607", 3),
            ("716626384", 4),
        ] {
            assert_eq!(Number::parse(text.as_bytes()).unwrap().bytes(), bytes, "{text}");
        }
    }

    #[test]
    fn what_would_come_back_otherwise_is_no_number() {
        for text in ["", "-", "-0", "007", "1.5", "+1", "2147483648", "-2147483648", "12345678901"]
        {
            assert_eq!(Number::parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn binary_form_comes_back_as_the_same_text(value in -i32::MAX..=i32::MAX, shift in 0_u32..31) {
            let text = (value >> shift).to_string();
            let mut binary = Vec::new();
            Number::parse(text.as_bytes()).unwrap().write(&mut binary);
            let mut back = Vec::new();
            Number::read(&binary).write_text(&mut back);
            prop_assert_eq!(back, text.as_bytes());
        }

        #[test]
        fn any_binary_form_has_a_text(binary in prop::collection::vec(0_u8.., 1..=MAX_BYTES)) {
            let mut text = Vec::new();
            Number::read(&binary).write_text(&mut text);
            prop_assert!(text.len() <= 11);
        }
    }
}
