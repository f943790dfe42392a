//! Own operations: those that are being made, and those that are not ordered yet.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Replica;
use crate::effect::Effect;
use crate::error::Error;
use crate::operation::{Action, MAX_DEPTH, encode_actions, id_at, stamp_of};
use crate::text::Text;

/// An operation whose actions have more UTF-16 units than this takes no further ones: they become
/// another operation.
const FULL: usize = 12_000;

/// The actions that undo one own operation. They are replaced each time the operation is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartId(u64);

#[derive(Debug)]
pub(super) struct Pending {
    pub(super) number: u64,
    pub(super) actions: Vec<Action>,
    /// The message as it was sent.
    pub(super) text: String,
    /// True if somebody else has used this program's id and this number, or a higher one.
    pub(super) is_taken: bool,
    pub(super) part: PartId,
    /// What it changed, while it is applied on top of the ordered operations.
    pub(super) effect: Option<Effect>,
}

impl Pending {
    /// Replaces the actions that undo the operation, if anybody may still ask for them.
    pub(super) fn set_inverse(&self, parts: &mut BTreeMap<PartId, Vec<Action>>, effect: &Effect) {
        if let Some(inverse) = parts.get_mut(&self.part) {
            *inverse = effect.inverse.iter().cloned().collect();
        }
    }
}

impl Replica {
    /// Begins an own operation.
    pub(crate) fn begin(&mut self) {
        self.refresh();
        self.drafts.clear();
    }

    /// Adds an action to the operation that is being made, and applies it.
    pub(crate) fn act<E>(&mut self, action: Action) -> Result<(), Error<E>> {
        // What undoes an operation contains the values of before, with a few levels around them.
        let is_undo = action.verb() == "r" || action.verb() == "q";
        if !is_undo && !action.json().is_within(MAX_DEPTH) {
            return Err(Error::TooDeep { name: (&action.name()).into(), limit: MAX_DEPTH });
        }
        let size = Text::from(action.json().to_string()).units().count();
        if self.is_full() {
            let number = self.count + self.drafts.len() as u64 + 1;
            let part = PartId(self.next_part);
            self.next_part += 1;
            let effect = Some(Effect::reversible());
            self.drafts.push(Pending {
                number,
                actions: Vec::new(),
                text: String::new(),
                is_taken: false,
                part,
                effect,
            });
            self.size = 0;
        }
        self.size += size;
        let Some(Pending { number, actions, effect: Some(effect), .. }) = self.drafts.last_mut()
        else {
            return Ok(());
        };
        actions.push(action);
        let stamp = stamp_of(&self.author, *number);
        self.tables.apply(actions, &stamp, None, effect, actions.len() - 1);
        Ok(())
    }

    /// The id of an item that the next action inserts.
    pub(crate) fn next_id(&self) -> Text {
        let (before, at) = match self.drafts.last() {
            Some(draft) if !self.is_full() => (self.drafts.len() - 1, draft.actions.len()),
            _ => (self.drafts.len(), 0),
        };
        id_at(&stamp_of(&self.author, self.count + before as u64 + 1), at)
    }

    /// Whether the operation that is being made has changed anything.
    pub(crate) fn has_changed(&self) -> bool {
        self.drafts.iter().any(|draft| draft.effect.as_ref().is_some_and(Effect::has_changed))
    }

    /// Sends the operation under construction. If it cannot be sent, its changes are reverted.
    /// Returns the parts by which it can be undone, which the caller has to
    /// [`forget`](Self::forget).
    pub(crate) fn commit<E>(
        &mut self,
        mut send: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<Vec<PartId>, Error<E>> {
        let mut step = Vec::new();
        let mut drafts = core::mem::take(&mut self.drafts).into_iter();
        while let Some(mut draft) = drafts.next() {
            draft.text = encode_actions(&self.author, draft.number, &draft.actions);
            if let Err(error) = send(&draft.text) {
                self.drafts = [draft].into_iter().chain(drafts).collect();
                self.abort();
                self.forget(&step);
                return Err(Error::Send(error));
            }
            self.count = draft.number;
            let inverse =
                draft.effect.iter().flat_map(|effect| effect.inverse.iter().cloned()).collect();
            self.parts.insert(draft.part, inverse);
            step.push(draft.part);
            self.pending.push(draft);
        }
        Ok(step)
    }

    /// Reverts the operation under construction.
    pub(crate) fn abort(&mut self) {
        for draft in core::mem::take(&mut self.drafts).into_iter().rev() {
            if let Some(effect) = draft.effect {
                self.tables.take_back(effect);
            }
        }
    }

    /// The actions that undo an operation now.
    pub(crate) fn inverse(&self, part: PartId) -> &[Action] {
        self.parts.get(&part).map(Vec::as_slice).unwrap_or_default()
    }

    /// Nobody asks any more for what undoes these operations.
    pub(crate) fn forget(&mut self, parts: &[PartId]) {
        parts.iter().for_each(|part| drop(self.parts.remove(part)));
    }

    /// Gives operations whose numbers somebody else has used other ones, because the room takes
    /// them for repeated ones. Returns what has to be sent.
    pub(crate) fn renumbered(&mut self) -> Vec<String> {
        if !self.pending.iter().any(|own| own.is_taken) {
            return Vec::new();
        }
        self.roll_back();
        let (mut taken, kept): (Vec<_>, Vec<_>) =
            core::mem::take(&mut self.pending).into_iter().partition(|own| own.is_taken);
        for own in &mut taken {
            self.count += 1;
            own.number = self.count;
            own.text = encode_actions(&self.author, own.number, &own.actions);
            own.is_taken = false;
        }
        let messages = taken.iter().map(|own| own.text.clone()).collect();
        self.pending = kept.into_iter().chain(taken).collect();
        messages
    }

    /// True if the next action begins another message.
    fn is_full(&self) -> bool {
        self.drafts.is_empty() || self.size > FULL
    }
}
