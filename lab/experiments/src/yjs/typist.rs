//! The bytes that Yjs makes while a user types: updates of one character each, and states of a
//! cursor.

/// A client number of 32 bits, as Yjs chooses it at random.
const CLIENT: u64 = 0x9e37_79b1;

/// A user who types.
#[derive(Default)]
pub(super) struct Typist {
    clock: u64,
    states: u64,
}

impl Typist {
    /// The next update: a character behind the last one.
    pub(super) fn letter(&mut self) -> Vec<u8> {
        let letter = b'a' + (self.clock % 26) as u8;
        self.text(&[letter])
    }

    /// The next update: ASCII characters behind the last one.
    pub(super) fn text(&mut self, text: &[u8]) -> Vec<u8> {
        let mut out = vec![1, 1];
        number(&mut out, CLIENT);
        number(&mut out, self.clock);
        match self.clock.checked_sub(1) {
            // The parent of the first character: the text "t".
            None => out.extend([4, 1, 1, b't']),
            Some(last) => {
                out.push(0x84);
                number(&mut out, CLIENT);
                number(&mut out, last);
            }
        }
        number(&mut out, text.len() as u64);
        out.extend_from_slice(text);
        // The update deletes nothing.
        out.push(0);
        self.clock += text.len() as u64;
        out
    }

    /// The next state of awareness: its number, and the fields as y-codemirror.next and
    /// y-prosemirror write them.
    pub(super) fn state(&mut self) -> State {
        self.states += 1;
        let at = 100 + self.states % 50;
        let place = format!(
            r#"{{"type":null,"tname":"t","item":{{"client":{CLIENT},"clock":{at}}},"assoc":0}}"#
        );
        State {
            number: self.states,
            user: r##"{"name":"Ada Lovelace","color":"#30bced","colorLight":"#30bced33"}"##.into(),
            cursor: format!(r#"{{"anchor":{place},"head":{place},"n":{}}}"#, self.states),
        }
    }

    pub(super) fn client() -> u64 {
        CLIENT
    }
}

/// A state of awareness.
pub(super) struct State {
    pub(super) number: u64,
    pub(super) user: String,
    pub(super) cursor: String,
}

impl State {
    /// An awareness update of y-protocols.
    pub(super) fn update(&self) -> Vec<u8> {
        let json = format!(r#"{{"user":{},"cursor":{}}}"#, self.user, self.cursor);
        let mut out = vec![1];
        number(&mut out, CLIENT);
        number(&mut out, self.number);
        blob(&mut out, json.as_bytes());
        out
    }
}

/// The number of the state in some bytes, if there is one.
pub(super) fn state_in(bytes: &[u8]) -> Option<u64> {
    let at = bytes.windows(4).rposition(|some| some == br#""n":"#)? + 4;
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| Some(number.unwrap_or(0) * 10 + u64::from(digit - b'0')))
}

/// Writes a number as lib0 does.
pub(super) fn number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes bytes with their length before them.
pub(super) fn blob(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_those_of_yjs() {
        let mut typist = Typist::default();
        // The bytes that `Y.encodeStateAsUpdate` makes of the first character of a client with this
        // number.
        assert_eq!(typist.letter(), [1, 1, 177, 243, 221, 241, 9, 0, 4, 1, 1, b't', 1, b'a', 0]);
        let next = [177, 243, 221, 241, 9, 1, 0x84, 177, 243, 221, 241, 9, 0, 1, b'b', 0];
        assert_eq!(typist.letter(), [&[1, 1], &next[..]].concat());
    }

    #[test]
    fn the_number_of_a_state_is_found_in_what_a_server_sends() {
        let mut typist = Typist::default();
        typist.state();
        let update = typist.state().update();
        assert_eq!(state_in(&update), Some(2));
        assert_eq!(state_in(&typist.state().cursor.into_bytes()), Some(3));
        assert_eq!(state_in(b"{}"), None);
    }
}
