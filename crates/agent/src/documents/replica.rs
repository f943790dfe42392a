//! A document as the room has it: its updates as bytes, in the room's order. Pure: a fold over the
//! messages of the document's channel.

use std::collections::VecDeque;

use groupwire_client::{GapReason, Incoming};
use groupwire_yjs::{Control, Document, Fits, Nesting, Pieces, StateVector, Update};

use crate::error::ToolError;

/// The deepest nesting of shared types. Editors nest lists, tables and quotes some ten deep, and
/// each level of them is one or two types.
const MAX_NESTING: u32 = 100;

/// Most updates that wait for others before them. In the room's order nothing has to wait, unless
/// the room has lost a part of its history.
const MAX_EARLY: usize = 64;

/// The largest clock of a client. `yrs` counts with 32 bits.
const MAX_CLOCK: u64 = 1 << 31;

/// See the [module](self).
pub(super) struct Replica {
    document: Document,
    nesting: Nesting,
    pieces: Pieces,
    /// Updates that refer to content that has not come.
    early: Vec<Vec<u8>>,
    /// Own updates that the room has not ordered, oldest first.
    unordered: VecDeque<Own>,
    series: u64,
    max_bytes: usize,
    /// False if something that the room no longer has never arrived.
    is_complete: bool,
    /// Why the document cannot be read.
    failure: Option<ToolError>,
    /// What the document had before the server lost the room, to be compared with the room.
    kept: Option<Document>,
}

/// An own update.
struct Own {
    update: Vec<u8>,
    /// If it travels in pieces, their series.
    series: Option<u64>,
    /// True if the editor has it.
    in_editor: bool,
    /// True if it is what the room lacked after the server had lost it.
    restores: bool,
}

/// What a message has changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Updates for the editor. Each refers only to content before it.
    pub(super) updates: Vec<Vec<u8>>,
    /// True if the document has changed.
    pub(super) changed: bool,
}

/// A message for the document's channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Post {
    Update(Vec<u8>),
    Text(String),
}

/// The name of a room's document, unless a program has given it another one.
pub(crate) const DOCUMENT: &str = "yjs";

/// True for names of channels that carry the room's document, its subdocuments or its awareness.
pub(crate) fn is_document_channel(name: &str) -> bool {
    name.strip_prefix(DOCUMENT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Replica {
    pub(super) fn new(max_bytes: usize) -> Self {
        Replica {
            document: Document::default(),
            nesting: Nesting::new(MAX_NESTING),
            pieces: Pieces::default(),
            early: Vec::new(),
            unordered: VecDeque::new(),
            series: 0,
            max_bytes,
            is_complete: true,
            failure: None,
            kept: None,
        }
    }

    /// The document as one update, for an editor.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(super) fn content(&mut self) -> Result<Vec<u8>, ToolError> {
        self.check()?;
        Ok(self.document.merge().to_vec())
    }

    /// Checks that the document can be read.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// True if the room no longer has a part of the document, and nobody has sent it.
    pub(super) fn lacks_content(&self) -> bool {
        !self.is_complete || !self.early.is_empty()
    }

    /// True if content from before the server lost the room is not in the room again.
    pub(super) fn is_restoring(&self) -> bool {
        self.kept.is_some() || self.unordered.iter().any(|own| own.restores)
    }

    /// The document's part of the room's snapshot; `None` if something is missing here, which would
    /// be lost with the snapshot.
    pub(super) fn snapshot(&mut self) -> Option<Vec<u8>> {
        let is_whole = self.failure.is_none() && !self.lacks_content() && self.kept.is_none();
        let everything = StateVector::default();
        is_whole.then(|| self.pieces.encode(&self.document.diff(&everything)))
    }

    /// Notes an own update, which the editor has made, and returns the messages that carry it.
    /// `largest`: the most bytes of a message.
    pub(super) fn publish(&mut self, update: Vec<u8>, largest: usize) -> Vec<Post> {
        self.send(Own { update, series: None, in_editor: true, restores: false }, largest)
    }

    fn send(&mut self, mut own: Own, largest: usize) -> Vec<Post> {
        let posts = self.posts(&mut own, largest);
        self.unordered.push_back(own);
        posts
    }

    /// Called when the editor begins anew: it no longer has the updates that the room has not
    /// ordered. `refused`: the room will not order them.
    pub(super) fn editor_is_new(&mut self, refused: bool) {
        if refused {
            self.unordered.clear();
        }
        self.unordered.iter_mut().for_each(|own| own.in_editor = false);
    }

    /// Takes a message of the document's channel.
    pub(super) fn take(&mut self, message: &Incoming) -> News {
        let sender = u64::from(message.sender.get());
        if let Some(departed) = message.departed {
            self.pieces.drop(departed.get().into());
            return News::default();
        }
        if !message.text {
            return self.take_update(&message.bytes, message.own, None);
        }
        match str::from_utf8(&message.bytes).ok().and_then(Control::parse) {
            Some(Control::Piece(piece)) => {
                let series = piece.series;
                match self.pieces.add(sender, piece) {
                    Some(update) => self.take_update(&update, message.own, Some(series)),
                    None => News::default(),
                }
            }
            // Claims decide which participant sends content that others lack. This program never
            // makes a claim.
            _ => News::default(),
        }
    }

    /// Takes the document's part of the room's snapshot.
    pub(super) fn load(&mut self, snapshot: &[u8]) -> News {
        match self.pieces.decode(snapshot).map(<[u8]>::to_vec) {
            Ok(update) => self.take_update(&update, false, None),
            Err(error) => self.fail(&error),
        }
    }

    /// Takes a gap that concerns the document. Returns messages to send, and whether an editor has
    /// to begin anew.
    pub(super) fn gap(&mut self, reason: GapReason, largest: usize) -> (Vec<Post>, bool) {
        match reason {
            GapReason::Reset => {
                *self = Replica::new(self.max_bytes);
                (Vec::new(), true)
            }
            // The server has lost the room: what it no longer has is sent again once it is clear
            // what the others have sent.
            GapReason::Incarnation => {
                let mut before = std::mem::replace(self, Replica::new(self.max_bytes));
                for Own { update, .. } in before.unordered {
                    let _ = before.document.add(update);
                }
                self.kept = Some(before.document);
                (Vec::new(), true)
            }
            // The room may have taken some pieces as those of the former participant: all are sent
            // again. Updates in one message are sent again by the session.
            GapReason::Session => {
                let mut unordered = std::mem::take(&mut self.unordered);
                let in_pieces = unordered.iter_mut().filter(|own| own.series.is_some());
                let posts = in_pieces.flat_map(|own| self.posts(own, largest)).collect();
                self.unordered = unordered;
                (posts, false)
            }
            GapReason::History => {
                self.is_complete = false;
                (vec![Post::Text(Control::ask(&self.document.state_vector()))], false)
            }
        }
    }

    /// Everything that the room has is there: returns what it lacks of what it had before it was
    /// lost.
    pub(super) fn synced(&mut self, largest: usize) -> Vec<Post> {
        let Some(mut kept) = self.kept.take() else { return Vec::new() };
        let update = kept.merge();
        let lacking = Update::parse(update).ok().and_then(|update| self.document.news(&update));
        let own =
            lacking.map(|update| Own { update, series: None, in_editor: false, restores: true });
        own.map(|own| self.send(own, largest)).unwrap_or_default()
    }

    fn posts(&mut self, own: &mut Own, largest: usize) -> Vec<Post> {
        if own.update.len() <= largest {
            return vec![Post::Update(own.update.clone())];
        }
        self.series += 1;
        own.series = Some(self.series);
        Control::cut(&own.update, self.series).map(Post::Text).collect()
    }

    fn take_update(&mut self, update: &[u8], own: bool, series: Option<u64>) -> News {
        let is_known = own && self.ordered(series).is_some_and(|own| own.in_editor);
        let mut news = News::default();
        self.add(update, &mut news);
        if is_known {
            // The editor has made it.
            news.updates.clear();
        }
        // What has waited for this update.
        let mut early = std::mem::take(&mut self.early);
        while news.changed && !early.is_empty() {
            let waiting = early.len();
            for update in early {
                self.add(&update, &mut news);
            }
            early = std::mem::take(&mut self.early);
            if early.len() == waiting {
                break;
            }
        }
        self.early.append(&mut early);
        news
    }

    /// Takes the own update that the room has ordered: it orders them as they were sent.
    fn ordered(&mut self, series: Option<u64>) -> Option<Own> {
        let is_next = self.unordered.front().is_some_and(|own| own.series == series);
        is_next.then(|| self.unordered.pop_front()).flatten()
    }

    /// Adds the part of an update that is new.
    fn add(&mut self, update: &[u8], news: &mut News) {
        if self.failure.is_some() {
            return;
        }
        let parsed = match Update::parse(update) {
            Ok(parsed) => parsed,
            Err(error) => {
                *news = self.fail(&error);
                return;
            }
        };
        let Some(new) = self.document.news(&parsed) else { return };
        if self.document.size() + new.len() + self.early.iter().map(Vec::len).sum::<usize>()
            > self.max_bytes
        {
            let message = format!(
                "the document has more than {} bytes, which is more than this agent reads",
                self.max_bytes
            );
            self.failure = Some(ToolError::new("too-large", message));
            self.document = Document::default();
            self.early.clear();
            *news = News { updates: Vec::new(), changed: true };
            return;
        }
        let Ok(parsed) = Update::parse(&new) else { return };
        let is_small = parsed.end() <= MAX_CLOCK;
        match if is_small { self.nesting.add(&parsed) } else { Fits::TooDeep } {
            Fits::Yes => {
                news.changed = true;
                news.updates.push(new.clone());
                let _ = self.document.add(new);
                if self.document.is_scattered() {
                    self.document.merge();
                }
            }
            Fits::NotYet if self.early.len() < MAX_EARLY => self.early.push(new),
            Fits::NotYet => *news = self.fail(&"too much content is missing"),
            Fits::TooDeep => *news = self.fail(&"it nests shared types too deep"),
        }
    }

    fn fail(&mut self, why: &dyn std::fmt::Display) -> News {
        let message = format!(
            "this agent cannot read the document: {why}. Others may be able to; tell the operator"
        );
        self.failure = Some(ToolError::new("unreadable", message));
        News { updates: Vec::new(), changed: true }
    }
}
