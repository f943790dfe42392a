//! Checks JSON, which browsers read by `JSON.parse`: an update with other text makes them throw an
//! error whenever they read it.

use crate::error::Error;
use crate::limits::MAX_DEPTH;

/// Checks that a text is JSON. `at`: where it begins in the update.
pub(crate) fn check(text: &str, at: usize) -> Result<(), Error> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    match scanner.document() {
        Some(true) => Ok(()),
        Some(false) => Err(Error::TooDeep { at, limit: MAX_DEPTH }),
        None => Err(Error::Malformed { what: "JSON", at }),
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// `None`: it is malformed.
type Checked<T = ()> = Option<T>;

impl Scanner<'_> {
    /// `false`: it is nested too deeply.
    fn document(&mut self) -> Checked<bool> {
        // One bit for each array or object that is open: whether it is an object.
        let mut open: u128 = 0;
        let mut depth = 0;
        loop {
            // A value begins here.
            self.blanks();
            let begins = match self.peek()? {
                bracket @ (b'[' | b'{') => {
                    if depth == MAX_DEPTH {
                        return Some(false);
                    }
                    self.at += 1;
                    (open, depth) = (open << 1 | u128::from(bracket == b'{'), depth + 1);
                    self.blanks();
                    // An empty array or object ends at once, which the loop below handles.
                    !matches!(self.peek()?, b']' | b'}')
                }
                _ => {
                    self.scalar()?;
                    false
                }
            };
            if begins {
                self.key(open)?;
                continue;
            }
            // A value has ended: the array or object around it ends, too, or goes on.
            loop {
                self.blanks();
                if depth == 0 {
                    return (self.at == self.bytes.len()).then_some(true);
                }
                let next = self.peek()?;
                self.at += 1;
                match next {
                    b',' => {
                        self.blanks();
                        self.key(open)?;
                        break;
                    }
                    b']' if open & 1 == 0 => (open, depth) = (open >> 1, depth - 1),
                    b'}' if open & 1 == 1 => (open, depth) = (open >> 1, depth - 1),
                    _ => return None,
                }
            }
        }
    }

    /// Reads the key before a value, if the value is in an object.
    fn key(&mut self, open: u128) -> Checked {
        if open & 1 == 0 {
            return Some(());
        }
        self.string()?;
        self.blanks();
        self.expect(b':')
    }

    fn scalar(&mut self) -> Checked {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn string(&mut self) -> Checked {
        self.expect(b'"')?;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => {
                    let escape = self.peek()?;
                    self.at += 1;
                    match escape {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            for _ in 0..4 {
                                self.peek()?.is_ascii_hexdigit().then_some(())?;
                                self.at += 1;
                            }
                        }
                        _ => return None,
                    }
                }
                0..0x20 => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Checked {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Checked {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Checked {
        self.bytes.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Checked {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn peek(&self) -> Checked<u8> {
        self.bytes.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn values() {
        for text in [
            "null",
            " true ",
            "-0.5e+10",
            "[]",
            "{}",
            "[[],{}]",
            r#"{"a":[1,2,{"b":null}],"c":"\u00e9\n"}"#,
            r#""\ud800""#,
        ] {
            assert_eq!(check(text, 0), Ok(()), "{text}");
        }
        for text in [
            "",
            "[",
            "]",
            "[}",
            "{]",
            "[1,]",
            "{,}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            "01",
            "1.",
            "nul",
            "\"",
            "\"\n\"",
            "1 2",
            "undefined",
            r#""\x""#,
            "[1 2]",
            r#"{1:2}"#,
            "{\"a\":1,}",
        ] {
            assert!(check(text, 0).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| -> String { "[".repeat(depth) + &"]".repeat(depth) };
        assert_eq!(check(&nested(MAX_DEPTH), 0), Ok(()));
        let error = Error::TooDeep { at: 7, limit: MAX_DEPTH };
        assert_eq!(check(&nested(MAX_DEPTH + 1), 7), Err(error));
        assert_eq!(check(&"[".repeat(1_000_000), 7), Err(error));
    }
}
