//! The previous n messages, on which a new template is tried (`createTemplate` in the paper's
//! Figure 4). A template is an earlier message, with which similar ones are compressed.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::announcement::{ADDITION_BYTES, TEMPLATE_BYTES};
use super::template::{Coded, Template};

/// The last messages that were sent.
#[derive(Debug)]
pub(super) struct History {
    past: VecDeque<Past>,
    length: usize,
}

/// A message that was sent.
#[derive(Debug)]
pub(super) struct Past {
    pub(super) message: Vec<u8>,
    /// The number of the template with which it was compressed.
    pub(super) template: Option<u16>,
    /// Bytes of the compressed message without the header.
    pub(super) size: usize,
}

/// A new template must pay for itself within this many times the previous n messages: the bytes
/// that it would have saved on these n, times this, must exceed the bytes of its announcements.
///
/// The paper's own rule, a better ratio, needs a target ratio that stops falling. On a machine that
/// never takes 2 ms for a message, the ratio falls to zero, and every message that shares a few
/// more digits with its neighbours than the templates do becomes a template: 6,682 of them on a
/// trace of 12,850 messages, six times the bytes. With 2, and n = 20, counts and bytes are near the
/// paper's Table 5; with 4 there are twenty times as many templates.
const PAID_AFTER: usize = 2;

impl History {
    /// A history of `length` messages, at least one.
    pub(super) fn new(length: usize) -> Self {
        Self { past: VecDeque::new(), length: length.max(1) }
    }

    pub(super) fn push(&mut self, past: Past) {
        if self.past.len() == self.length {
            self.past.pop_front();
        }
        self.past.push_back(past);
    }

    /// Whether `template` would have saved enough bytes on the previous messages, if used in place
    /// of the template with the number `replaced` (or in addition, if that is `None`). Always true
    /// if there are no previous messages.
    pub(super) fn is_better_with(&self, template: &Template, replaced: Option<u16>) -> bool {
        let mut coded = Coded::default();
        let mut parts = BTreeSet::new();
        let (mut before, mut after) = (0, 0);
        for past in &self.past {
            let orphan = replaced.is_some() && past.template == replaced;
            let without = if orphan { past.message.len() } else { past.size };
            template.compress(&past.message, &mut coded);
            before += past.size;
            if coded.size < without {
                after += coded.size;
                parts.extend(coded.additions.keys().copied());
            } else {
                after += without;
            }
        }
        let cost = TEMPLATE_BYTES + template.bytes.len() + parts.len() * ADDITION_BYTES;
        self.past.is_empty() || before.saturating_sub(after) * PAID_AFTER > cost
    }

    /// The bytes that the template with this number has saved on the previous messages.
    pub(super) fn saved_by(&self, number: u16) -> usize {
        let own = self.past.iter().filter(|past| past.template == Some(number));
        own.map(|past| past.message.len().saturating_sub(past.size)).sum()
    }

    /// The memory of the messages, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.past.iter().map(|past| past.message.capacity()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gmc2006::Profile;

    fn past(text: &[u8], template: u16, size: usize) -> Past {
        Past { message: text.to_vec(), template: Some(template), size }
    }

    #[test]
    fn a_template_is_better_if_it_pays_for_itself() {
        let message = b"<move id=\"17\" x=\"100\" y=\"200\"/>";
        let template = Template::new(9, None, message, Profile::Gmc2006);
        let mut history = History::new(20);
        assert!(history.is_better_with(&template, None), "nothing speaks against it");
        history.push(past(message, 1, 20));
        assert!(!history.is_better_with(&template, None), "one message does not pay for it");
        history.push(past(message, 1, 20));
        assert!(history.is_better_with(&template, None));
        let mut compressed = History::new(20);
        compressed.push(past(message, 1, 1));
        assert!(!compressed.is_better_with(&template, None), "no better than what there is");
    }

    #[test]
    fn replacing_a_template_costs_what_it_saved() {
        let template = Template::new(9, None, b"abcdefghijklmnopqrstuvwxyz", Profile::Gmc2006);
        let mut history = History::new(20);
        for _ in 0..3 {
            history.push(past(b"abcdefghijklmnopqrstuvwxyz", 1, 26));
            history.push(past(&[b'!'; 90], 2, 10));
        }
        assert!(history.is_better_with(&template, None));
        assert!(history.is_better_with(&template, Some(1)));
        assert!(!history.is_better_with(&template, Some(2)));
        assert_eq!((history.saved_by(1), history.saved_by(2)), (0, 240));
    }

    #[test]
    fn only_the_last_messages_count() {
        let mut history = History::new(2);
        for size in [1, 2, 3] {
            history.push(past(b"0123456789", 1, size));
        }
        assert_eq!(history.saved_by(1), 8 + 7);
    }
}
