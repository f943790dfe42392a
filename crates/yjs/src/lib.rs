//! Updates of [Yjs](https://yjs.dev) documents, as bytes: checks them, merges them, and says what
//! one has that another lacks, without a document and without a CRDT.
//!
//! A server that relays Yjs documents need not understand them. It has to refuse updates that would
//! harm its clients, to store updates, to tell what it has ([`Update::state_vector`]), and to send
//! clients the rest ([`diff`]). All of this works on the bytes of updates in version 1, the format
//! of Yjs 13.
//!
//! ```
//! use groupwire_yjs::{StateVector, Update, diff, merge};
//!
//! // Client 1 wrote "hi" into the text "t", and then deleted the "h".
//! let first = [1, 1, 1, 0, 4, 1, 1, b't', 2, b'h', b'i', 0];
//! let second = [0, 1, 1, 1, 0, 1];
//! let updates = [Update::parse(&first)?, Update::parse(&second)?];
//! let merged = merge(&updates);
//! let document = Update::parse(&merged)?;
//! assert_eq!(document.state_vector().get(1), 2);
//!
//! // Who has everything is sent the deletions alone.
//! let rest = diff(&document, &document.state_vector());
//! assert_eq!(rest, second);
//! assert_eq!(diff(&document, &StateVector::default()), merged);
//! # Ok::<(), groupwire_yjs::Error>(())
//! ```
//!
//! For a server there is more: [`Document`] is a document as a server holds it, [`Message`] and
//! [`reply`] are the messages of y-websocket, [`Awareness`] knows which clients are present,
//! [`Control`] is what participants of a room agree on by text, and [`Pieces`] joins updates that
//! came in several messages. [`Nesting`] is for programs that hand updates to a CRDT.
//!
//! # What is checked
//!
//! An update that [`Update::parse`] accepts is well-formed in every part: structs, contents (text
//! in UTF-8, JSON, binary values), and deletions. It has the form that Yjs writes. No item refers
//! to later items of its own client, which makes Yjs throw an error. Other items that it refers to
//! may be missing: Yjs waits for them.
//!
//! # Limits
//!
//! No input makes this crate panic or recurse. An update has at most [`MAX_UPDATE`] bytes, numbers
//! 53 bits, and values and JSON nest at most [`MAX_DEPTH`] deep. Beside the input, an update needs
//! memory for each client in it: some dozen bytes, or at most 16 times its size if it is malicious.
//! Merging and comparing need the output, which is hardly larger than the input, 100 bytes for each
//! update, and the deletions of one client at a time. Their time grows with the input times the
//! logarithm of the number of updates.
#![no_std]

extern crate alloc;

mod awareness;
mod content;
mod control;
mod deletes;
mod document;
mod error;
mod json;
mod limits;
mod merge;
mod message;
mod nesting;
mod pieces;
mod ranges;
mod reader;
pub mod reply;
mod state_vector;
mod structs;
mod update;
mod writer;

pub use awareness::{Applied, Awareness, Departed, Recall, TooManyStates};
pub use control::Control;
pub use deletes::DeleteSet;
pub use document::Document;
pub use error::Error;
pub use limits::{MAX_DEPTH, MAX_STATES, MAX_UPDATE};
pub use merge::{diff, merge, without_deleted};
pub use message::{Message, State};
pub use nesting::{Fits, Nesting};
pub use pieces::{Piece, Pieces};
pub use reader::MAX_NUMBER;
pub use state_vector::StateVector;
pub use update::Update;
