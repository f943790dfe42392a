use alloc::vec::Vec;

use crate::error::Error;
use crate::json;
use crate::limits::MAX_STATES;
use crate::reader::Reader;
use crate::state_vector::StateVector;

pub(crate) const SYNC: u64 = 0;
pub(crate) const AWARENESS: u64 = 1;
pub(crate) const AUTH: u64 = 2;
const ASK_AWARENESS: u64 = 3;

pub(crate) const STEP_1: u64 = 0;
pub(crate) const STEP_2: u64 = 1;
pub(crate) const UPDATE: u64 = 2;

/// A message of a client of y-websocket. An [`Update`](crate::Update) in it is not checked yet.
///
/// ```
/// use groupwire_yjs::{Message, StateVector};
///
/// assert_eq!(Message::parse(&[0, 0, 1, 0])?, Message::AskDocument(StateVector::default()));
/// assert_eq!(Message::parse(&[0, 2, 2, 0, 0])?, Message::Update(&[0, 0]));
/// # Ok::<(), groupwire_yjs::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message<'a> {
    /// The state vector of a client that asks for the rest of the document: "sync step 1".
    AskDocument(StateVector),
    /// An update of the document: a change that was just made, or "sync step 2", the answer when
    /// the server asks for the rest.
    Update(&'a [u8]),
    /// States of awareness.
    Awareness(Vec<State<'a>>),
    /// The client asks for all states of awareness.
    AskAwareness,
    /// A message of another type, which applications may have added. Servers ignore it.
    Other(u64),
}

/// The state of one client of awareness: a cursor, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State<'a> {
    /// The client.
    pub client: u64,
    /// The version of the state: a higher clock is newer.
    pub clock: u64,
    /// The state in JSON; `None` if the client has left.
    pub json: Option<&'a str>,
}

impl<'a> Message<'a> {
    /// Reads a message. The JSON of states is checked.
    ///
    /// # Errors
    /// The bytes are no message.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes, 0);
        let message = match reader.number()? {
            SYNC => Self::sync(&mut reader)?,
            AWARENESS => {
                let states = states(reader.blob()?)?;
                Message::Awareness(states)
            }
            ASK_AWARENESS => Message::AskAwareness,
            other => return Ok(Message::Other(other)),
        };
        match reader.left() {
            0 => Ok(message),
            _ => Err(Error::TooLong { at: reader.at() }),
        }
    }

    fn sync(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let at = reader.at();
        match reader.number()? {
            STEP_1 => Ok(Message::AskDocument(StateVector::parse(reader.blob()?)?)),
            STEP_2 | UPDATE => Ok(Message::Update(reader.blob()?)),
            _ => Err(Error::Malformed { what: "the type of a sync message", at }),
        }
    }
}

/// Reads the states of an awareness message.
fn states(bytes: &[u8]) -> Result<Vec<State<'_>>, Error> {
    let mut reader = Reader::new(bytes, 0);
    let count = reader.count()?;
    if count > MAX_STATES as u64 {
        return Err(Error::Malformed { what: "the number of states", at: 0 });
    }
    let mut states = Vec::new();
    for _ in 0..count {
        let id = reader.id()?;
        let at = reader.at();
        let text = reader.text()?;
        json::check(text, at)?;
        let is_null = text.trim_matches([' ', '\t', '\n', '\r']) == "null";
        states.push(State { client: id.client, clock: id.clock, json: (!is_null).then_some(text) });
    }
    match reader.left() {
        0 => Ok(states),
        _ => Err(Error::TooLong { at: reader.at() }),
    }
}
