//! States that come back after the server has lost the room.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::{MAX_NUMBER, Replica};
use crate::json::{Json, whole};
use crate::operation::Piece;
use crate::ordered::Ordered;
use crate::tables::Malformed;
use crate::text::{Text, joined};

/// After this many operations since the room began anew, no remembered state can become its base
/// any more: programs with such a state return within seconds, and until then snapshots contain
/// each operation of the tail.
const MAX_TAIL: usize = 1000;

/// The most states whose pieces are arriving: one, and those whose senders left before the end.
/// Each has 18 million UTF-16 units at most.
const MAX_ARRIVING: usize = 4;

/// An operation as the room ordered it. Without text, the participant has left for good.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) participant: u64,
    pub(super) text: Option<Text>,
}

impl Entry {
    pub(super) fn encode(&self) -> Json {
        [whole(self.participant)].into_iter().chain(self.text.as_ref().map(Json::from)).collect()
    }

    pub(super) fn decode(json: &Json) -> Result<Entry, Malformed> {
        let (participant, text) = match json.as_array() {
            Some([participant]) => (participant, None),
            Some([participant, Json::Text(text)]) => (participant, Some(text.clone())),
            _ => return Err(Malformed),
        };
        Ok(Entry { participant: participant.as_count().ok_or(Malformed)?, text })
    }
}

/// A state that was valid before the server lost the room.
#[derive(Debug, Clone)]
pub(super) struct Base {
    /// The number of operations in it.
    pub(super) length: f64,
    pub(super) text: Text,
}

#[derive(Debug)]
pub(super) struct Bases {
    /// The base that the room has.
    pub(super) base: Option<Base>,
    /// The operations since the base; `None` once they are too many.
    pub(super) tail: Option<Vec<Entry>>,
    /// A longer base, which the room lacks.
    pub(super) remembered: Option<Base>,
    /// Pieces of a state that are arriving, by their author.
    arriving: Ordered<Text, (f64, Vec<Text>)>,
}

impl Default for Bases {
    fn default() -> Self {
        Bases { base: None, tail: Some(Vec::new()), remembered: None, arriving: Ordered::default() }
    }
}

impl Bases {
    /// The room begins anew.
    pub(super) fn restart(&mut self) {
        self.base = None;
        self.tail = Some(Vec::new());
        self.stop_arriving();
    }

    pub(super) fn is_arriving(&self) -> bool {
        !self.arriving.is_empty()
    }

    pub(super) fn stop_arriving(&mut self) {
        self.arriving.clear();
    }

    fn length(&self) -> f64 {
        self.base.as_ref().map_or(0.0, |base| base.length)
    }

    /// Takes a piece. Returns the state if this was the last one.
    fn take(&mut self, author: &Text, piece: &Piece) -> Option<Base> {
        let &Piece { length, index, count, .. } = piece;
        if self.tail.is_none() || length <= self.length() {
            return None;
        }
        if index == 0 {
            self.arriving.remove(author);
            self.arriving.insert(author.clone(), (length, Vec::new()));
            if self.arriving.len() > MAX_ARRIVING {
                self.arriving.remove_first();
            }
        }
        let Some((_, texts)) = self
            .arriving
            .get_mut(author)
            .filter(|(known, texts)| *known == length && texts.len() as u64 == index)
        else {
            self.arriving.remove(author);
            return None;
        };
        texts.push(piece.text.clone());
        if (texts.len() as u64) < count {
            return None;
        }
        let (_, texts) = self.arriving.remove(author)?;
        Some(Base { length, text: joined(&texts) })
    }
}

impl Replica {
    /// A piece of a state arrives.
    pub(super) fn collect(&mut self, author: &Text, piece: &Piece) {
        let Some(base) = self.bases.take(author, piece) else { return };
        if self.replay(Some(&base)).is_ok() {
            // Written anew: its author may have left halves of characters in it, which no snapshot
            // carries.
            let state = Json::parse_text(&base.text).unwrap_or(Json::Null);
            self.bases.base = Some(Base { text: state.to_string().into(), ..base });
            return self.settle_bases();
        }
        // The base is malformed, which all programs notice in the same way.
        let before = self.bases.remembered.clone().or_else(|| self.bases.base.clone());
        self.replay_valid(before.as_ref());
    }

    /// Adds an entry to the tail, if there is one.
    pub(super) fn follow(&mut self, entry: Entry) {
        let Some(tail) = &mut self.bases.tail else { return };
        tail.push(entry);
        if tail.len() < MAX_TAIL {
            return;
        }
        if self.bases.remembered.is_some() {
            // The remembered state comes too late to become the base.
            self.replay_valid(self.bases.base.clone().as_ref());
            self.forget_remembered();
        }
        self.bases.restart();
        self.bases.tail = None;
    }

    /// Chooses between the base of the room and the remembered state.
    pub(super) fn settle_bases(&mut self) {
        let Some(remembered) = &self.bases.remembered else { return };
        if self.bases.tail.is_some() && remembered.length > self.bases.length() {
            self.replay_valid(Some(&remembered.clone()));
        } else {
            self.forget_remembered();
        }
    }

    /// Called when the room has the remembered state, or can never have it.
    fn forget_remembered(&mut self) {
        let Some(remembered) = self.bases.remembered.take() else { return };
        let marks = Json::parse_text(&remembered.text)
            .ok()
            .and_then(|state| super::marks_of(state.at(1)?).ok());
        let is_missing =
            |(author, number): &(Text, u64)| *number.min(&MAX_NUMBER) > self.mark(author);
        if marks.unwrap_or_default().iter().any(is_missing) {
            self.has_lost = true;
        }
    }

    /// Builds the ordered state anew, from a base that was valid before, and the tail.
    fn replay_valid(&mut self, base: Option<&Base>) {
        let is_replayed = self.replay(base);
        debug_assert!(is_replayed.is_ok(), "a base that this program has used or made is valid");
    }

    /// Builds the ordered state anew, from a base and the tail.
    fn replay(&mut self, base: Option<&Base>) -> Result<(), Malformed> {
        self.roll_back();
        self.begin_with(base, MAX_NUMBER)?;
        self.tables.drop_holders();
        let tail = self.bases.tail.take();
        tail.iter().flatten().for_each(|entry| self.apply(entry));
        self.bases.tail = tail;
        self.drop_ordered();
        Ok(())
    }
}
