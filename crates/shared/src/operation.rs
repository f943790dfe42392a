//! The encoding of operations on shared data: JSON arrays whose parts have a fixed order, so that
//! messages resemble each other and are compressed well. Each has its author, the id of one program
//! in one room, and a number that grows with each operation of the author.
//!
//! ```text
//! [author, number, name, verb, …]                  one action on the data of this name
//! [author, number, [[name, verb, …], …]]           several actions, which count together or not at all
//! [author, number, 0, length]                      the author remembers a longer state than the room has
//! [author, number, 1, length, index, count, text]  a piece of such a state
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{Json, JsonError, MAX_SAFE, whole};
use crate::text::{Text, joined, of_units};

/// The longest author id, name and key, in UTF-16 units. A preview's key contains name and key, and
/// is limited to 256 bytes.
pub(crate) const MAX_NAME: usize = 128;

/// The UTF-16 units of one piece of a state, at most. Each takes three bytes at most, and a message
/// has 60,000.
pub(crate) const PIECE: usize = 18_000;

/// The most pieces of a state: as large as the largest snapshot of a stored room.
const MAX_PIECES: u64 = 1024;

/// The deepest nesting of a value. Deeper ones overflow the stack of JavaScript's `JSON.stringify`
/// at 5,000 or so.
pub(crate) const MAX_DEPTH: usize = 1000;

/// An operation, as a program sent it: JSON in one of these forms.
///
/// ```text
/// [author, number, name, verb, …]                  one action on the data of this name
/// [author, number, [[name, verb, …], …]]           several actions, which count together
/// [author, number, 0, length]                      the author remembers a longer state
/// [author, number, 1, length, index, count, text]  a piece of such a state
/// ```
///
/// | verb | behind it | what it does |
/// | --- | --- | --- |
/// | `s` | key, value, version? | sets a value of a map or list |
/// | `i` | place, value, version? | inserts an item, whose id is `author.number`, with `.n` behind it if it is action `n` from 1 |
/// | `d` | key | deletes a value |
/// | `p` | key, fields, removed? | sets and removes fields of a value; of an item `k` is the place, `v` the value |
/// | `r` | key, signature, cell or 0 | brings a value back, if nobody has changed it since |
/// | `q` | key, fields | brings fields back, as far as nobody has changed them since |
/// | `+` | number | adds to a counter |
/// | `a` | action | gives a reducer an action |
/// | `l`, `f` | | acquires, releases a lock |
/// | `j`, `k`, `n` | | joins, leaves, ends a turn |
///
/// ```
/// use groupwire_shared::{Content, Operation};
///
/// let operation = Operation::parse(r#"["me",3,"likes","+",1]"#)?;
/// assert_eq!(operation.author, "me");
/// assert!(matches!(&operation.content, Content::Actions(actions) if actions[0].verb() == "+"));
/// # Ok::<(), groupwire_shared::OperationError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The id of the program that made it, as that program says.
    pub author: Text,
    /// Its number among the operations of its author.
    pub number: u64,
    /// The effect of the operation.
    pub content: Content,
}

/// The content of an operation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// The operation changes data.
    Actions(Vec<Action>),
    /// Its author remembers a state of this many operations, which the room has lost.
    Claim(f64),
    /// It brings back a piece of such a state.
    Restore(Piece),
}

/// A piece of a state that its author remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// The number of operations in the state.
    pub length: f64,
    /// The place of this piece, from 0.
    pub index: u64,
    /// The number of pieces.
    pub count: u64,
    /// The piece.
    pub text: Text,
}

/// What an operation does with the data of one name: `[name, verb, …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Action(Json);

/// Why a message is not an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// The message is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The message is not an array.
    #[error("an operation is an array")]
    NoArray,
    /// The author is not a text, or too long.
    #[error("the author of an operation is a text of at most 128 characters")]
    Author,
    /// The number of the operation is not a whole one from 0 to 2^53 - 1.
    #[error("the number of an operation is a whole one from 0 to 2^53 - 1")]
    Number,
    /// An action has no name of at most 128 characters, or no verb.
    #[error("an action begins with a name of at most 128 characters, and a verb")]
    Action,
    /// The length of a remembered state is no number from 0 to 2^53 - 1.
    #[error("the length of a state is a number from 0 to 2^53 - 1")]
    Length,
    /// A piece of a state is too long, or its place is not that of one of at most 1,024 pieces.
    #[error("a state has at most 1,024 pieces of at most 18,000 characters")]
    Piece,
}

impl OperationError {
    /// A name for the error that stays the same.
    pub fn code(&self) -> &'static str {
        match self {
            OperationError::Json(_) => "not-json",
            OperationError::NoArray => "no-operation",
            OperationError::Author => "bad-author",
            OperationError::Number => "bad-number",
            OperationError::Action => "bad-action",
            OperationError::Length => "bad-length",
            OperationError::Piece => "bad-piece",
        }
    }
}

impl Operation {
    /// Reads an operation that another program wrote. Whatever the values in its actions are, it is
    /// an operation and has its place among those of its author; actions that cannot be applied
    /// have no effect.
    ///
    /// # Errors
    /// The message is not an operation.
    pub fn parse(message: &str) -> Result<Operation, OperationError> {
        Operation::of_json(&Json::parse(message)?)
    }

    pub(crate) fn parse_text(message: &Text) -> Result<Operation, OperationError> {
        Operation::of_json(&Json::parse_text(message)?)
    }

    fn of_json(json: &Json) -> Result<Operation, OperationError> {
        let parts = json.as_array().ok_or(OperationError::NoArray)?;
        let author = parts.first().and_then(name_of).ok_or(OperationError::Author)?.clone();
        let number = parts.get(1).and_then(Json::as_count).ok_or(OperationError::Number)?;
        let content = Content::parse(parts.get(2..).unwrap_or_default())?;
        Ok(Operation { author, number, content })
    }
}

impl Content {
    fn parse(parts: &[Json]) -> Result<Content, OperationError> {
        match parts {
            [Json::Text(_), ..] => {
                Ok(Content::Actions([Action::parse(parts.iter().cloned().collect())?].into()))
            }
            [Json::Array(actions), ..] => actions
                .iter()
                .cloned()
                .map(Action::parse)
                .collect::<Result<_, _>>()
                .map(Content::Actions),
            [kind, length, rest @ ..] => {
                let length = length_of(length).ok_or(OperationError::Length)?;
                match kind.as_f64() {
                    Some(0.0) => Ok(Content::Claim(length)),
                    Some(1.0) => Piece::parse(length, rest)
                        .map(Content::Restore)
                        .ok_or(OperationError::Piece),
                    _ => Err(OperationError::Action),
                }
            }
            _ => Err(OperationError::Action),
        }
    }
}

impl Piece {
    fn parse(length: f64, parts: &[Json]) -> Option<Piece> {
        let [index, count, Json::Text(text), ..] = parts else { return None };
        let (index, count) = (index.as_count()?, count.as_count()?);
        let is_piece = index < count && count <= MAX_PIECES && text.is_within(PIECE);
        is_piece.then(|| Piece { length, index, count, text: text.clone() })
    }
}

impl Action {
    pub(crate) fn new(name: &Text, verb: &str, rest: impl IntoIterator<Item = Json>) -> Action {
        Action([Json::from(name), verb.into()].into_iter().chain(rest).collect())
    }

    /// Checks the name and the verb.
    fn parse(json: Json) -> Result<Action, OperationError> {
        let is_action =
            matches!(json.as_array(), Some([name, Json::Text(_), ..]) if name_of(name).is_some());
        if is_action { Ok(Action(json)) } else { Err(OperationError::Action) }
    }

    /// The name of the data.
    pub fn name(&self) -> Text {
        self.part(0).and_then(Json::as_text).cloned().unwrap_or_else(|| "".into())
    }

    /// What is done with it, mostly one letter.
    pub fn verb(&self) -> Text {
        self.part(1).and_then(Json::as_text).cloned().unwrap_or_else(|| "".into())
    }

    /// The part behind the verb, if it is a text: the key of a value for most verbs.
    pub fn key(&self) -> Option<&Text> {
        self.part(2)?.as_text()
    }

    /// The whole action.
    pub fn json(&self) -> &Json {
        &self.0
    }

    /// A part of the action; the name is the first.
    pub(crate) fn part(&self, at: usize) -> Option<&Json> {
        self.0.at(at)
    }
}

/// The message of an operation.
pub(crate) fn encode_actions(author: &Text, number: u64, actions: &[Action]) -> String {
    let begin = [Json::from(author), whole(number)];
    let content: Vec<Json> = match actions {
        [only] => only.json().as_array().unwrap_or_default().to_vec(),
        _ => [actions.iter().map(|action| action.json().clone()).collect::<Json>()].into(),
    };
    begin.into_iter().chain(content).collect::<Json>().to_string()
}

/// The message that says how much a program remembers.
pub(crate) fn encode_claim(author: &Text, number: u64, length: f64) -> String {
    Json::from_iter([author.into(), whole(number), 0.into(), length.into()]).to_string()
}

/// The messages with the pieces of a state. The first has the number after `count`.
pub(crate) fn encode_pieces(
    author: &Text,
    mut number: u64,
    length: f64,
    state: &Text,
) -> Vec<String> {
    let units: Vec<u16> = state.units().collect();
    let pieces = units.chunks(PIECE);
    let count = pieces.len() as u64;
    let encode = |(index, piece): (u64, &[u16])| {
        number += 1;
        let text = of_units(piece.iter().copied());
        let place = [length.into(), whole(index), whole(count), text.into()];
        let parts = [author.into(), whole(number), 1.into()].into_iter().chain(place);
        parts.collect::<Json>().to_string()
    };
    (0..).zip(pieces).map(encode).collect()
}

/// Identifies an operation.
pub(crate) fn stamp_of(author: &Text, number: u64) -> Text {
    joined([author, &format!(".{number}").into()])
}

/// The id of an item that an action inserts: each action of an operation may insert one.
pub(crate) fn id_at(stamp: &Text, at: usize) -> Text {
    if at > 0 { joined([stamp, &format!(".{at}").into()]) } else { stamp.clone() }
}

/// The text of an author id, name or key.
pub(crate) fn name_of(json: &Json) -> Option<&Text> {
    json.as_text().filter(|text| is_name(text))
}

pub(crate) fn is_name(text: &Text) -> bool {
    text.is_within(MAX_NAME)
}

/// The length of a state: a number of operations, or a fraction of it.
pub(crate) fn length_of(json: &Json) -> Option<f64> {
    json.as_f64().filter(|length| (0.0..=MAX_SAFE as f64).contains(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_and_written() {
        for message in [
            r#"["me",1,"likes","+",1]"#,
            r#"["me",2,[["likes","+",1],["shapes","s","a",{"x":1}]]]"#,
            r#"["",0,[]]"#,
        ] {
            let Operation { author, number, content } = Operation::parse(message).unwrap();
            let Content::Actions(actions) = content else { panic!("{message} has actions") };
            assert_eq!(encode_actions(&author, number, &actions), message);
        }
        let claim = Operation::parse(&encode_claim(&"me".into(), 3, 7.5)).unwrap();
        assert_eq!(claim.content, Content::Claim(7.5));
    }

    #[test]
    fn a_state_is_cut_into_pieces_also_within_a_character() {
        let state = Text::from("x".repeat(PIECE - 1) + "🙂" + &"y".repeat(PIECE));
        let messages = encode_pieces(&"me".into(), 5, 9.0, &state);
        let mut texts = Vec::new();
        for (at, message) in (0..).zip(&messages) {
            let operation = Operation::parse(message).unwrap();
            let Content::Restore(piece) = operation.content else { panic!("it is a piece") };
            assert_eq!(
                (operation.number, piece.length, piece.index, piece.count),
                (6 + at, 9.0, at, 3)
            );
            texts.push(piece.text);
        }
        assert_eq!(joined(&texts), state);
        assert!(messages[0].ends_with(r#"x\ud83d"]"#));
    }

    #[test]
    fn what_is_no_operation_is_refused() {
        use OperationError::*;
        let long = "x".repeat(129);
        for (message, error) in [
            ("no JSON", Json(JsonError { at: 1 })),
            ("{}", NoArray),
            ("5", NoArray),
            ("[]", Author),
            (r#"[5,1,"score","+",1]"#, Author),
            (&format!(r#"["{long}",1,"score","+",1]"#), Author),
            (r#"["x"]"#, Number),
            (r#"["x",-1,"score","+",1]"#, Number),
            (r#"["x",1.5,"score","+",1]"#, Number),
            (r#"["x",9007199254740992,"score","+",1]"#, Number),
            (r#"["x",1e400,"score","+",1]"#, Number),
            (r#"["x",1]"#, Action),
            (r#"["x",1,"score"]"#, Action),
            (r#"["x",1,"score",5]"#, Action),
            (&format!(r#"["x",1,"{long}","+",1]"#), Action),
            (r#"["x",1,[["score","+",1],5]]"#, Action),
            (r#"["x",1,2,1]"#, Action),
            (r#"["x",1,0]"#, Action),
            (r#"["x",1,0,-1]"#, Length),
            (r#"["x",1,0,"5"]"#, Length),
            (r#"["x",1,0,1e300]"#, Length),
            (r#"["x",1,1,100,5,1,""]"#, Piece),
            (r#"["x",1,1,100,0,1025,""]"#, Piece),
            (r#"["x",1,1,100,0,1,5]"#, Piece),
            (&format!(r#"["x",1,1,100,0,1,"{}"]"#, "y".repeat(PIECE + 1)), Piece),
        ] {
            assert_eq!(Operation::parse(message), Err(error), "{message}");
        }
    }
}
