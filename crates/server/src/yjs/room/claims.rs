//! Decides which participant sends content that another one lacks and the room no longer has. Each
//! participant that has content makes a *claim*. The first claim in the room's order *leads*: its
//! sender sends the update, and then says that it is done. All participants see the same order, so
//! no timer is needed. `web/yjs/src/claims.ts` is the same for browsers.

use std::collections::VecDeque;

use groupwire_session::ParticipantId;
use groupwire_yjs::StateVector;

struct Claim {
    sender: ParticipantId,
    is_own: bool,
    /// The number of questions when the claim became the first one: its answer is for these.
    asks: Option<usize>,
}

/// A question for content that the room no longer has.
struct Ask {
    sender: ParticipantId,
    is_own: bool,
    /// True once this end has sent its answer.
    is_answered: bool,
}

/// The most questions that are remembered, and the most claims.
const MOST: usize = 1000;

#[derive(Default)]
pub(super) struct Claims {
    claims: VecDeque<Claim>,
    asks: Vec<Ask>,
    /// Content that all unanswered askers have. It may be less than they have in common after one
    /// of them has left.
    common: StateVector,
    has_led: bool,
    /// True while a claim of this end is not done.
    pub(super) is_waiting: bool,
}

impl Claims {
    /// True if this end is to send now.
    pub(super) fn leads(&self) -> bool {
        !self.has_led && self.claims.front().is_some_and(|first| first.is_own)
    }

    /// True if a question of another participant waits for this end's answer.
    pub(super) fn is_asked(&self) -> bool {
        self.asks.iter().any(|ask| !ask.is_own && !ask.is_answered)
    }

    /// The content that all unanswered askers have; `None` if there is no unanswered question of
    /// others.
    pub(super) fn least(&self) -> Option<StateVector> {
        self.is_asked().then(|| self.common.clone())
    }

    /// This end has sent its answer.
    pub(super) fn led(&mut self) {
        self.has_led = true;
        self.asks.iter_mut().for_each(|ask| ask.is_answered = true);
    }

    pub(super) fn claim(&mut self, sender: ParticipantId, is_own: bool) {
        if self.claims.len() < MOST || is_own {
            self.claims.push_back(Claim { sender, is_own, asks: None });
            self.advance();
        }
    }

    pub(super) fn ask(&mut self, sender: ParticipantId, is_own: bool, there: StateVector) {
        if self.asks.len() >= MOST {
            return;
        }
        if !is_own {
            self.common = if self.is_asked() { self.common.least(&there) } else { there };
        }
        self.asks.push(Ask { sender, is_own, is_answered: false });
    }

    /// The sender of a claim has sent its content, after which nobody lacks anything if
    /// `is_complete`. Returns true if that answers a question of this end.
    pub(super) fn done(&mut self, sender: ParticipantId, is_complete: bool) -> bool {
        let is_first = self.claims.front().is_some_and(|first| first.sender == sender);
        let first = if is_first { self.claims.pop_front() } else { None };
        let Some(first) = first else {
            self.claims.retain(|claim| claim.sender != sender);
            return false;
        };
        if first.is_own {
            self.end_own();
        }
        let answered = if is_complete { first.asks.unwrap_or_default() } else { 0 };
        let is_own = self.asks.drain(..answered.min(self.asks.len())).any(|ask| ask.is_own);
        self.advance();
        is_own
    }

    /// The room has forgotten a participant.
    pub(super) fn departed(&mut self, sender: ParticipantId) {
        self.claims.retain(|claim| claim.sender != sender);
        self.asks.retain(|ask| ask.sender != sender);
        self.advance();
    }

    /// Drops all claims after a gap: claims and the messages that end them may be among the lost
    /// messages.
    pub(super) fn forget(&mut self) {
        self.claims.clear();
        self.end_own();
    }

    fn end_own(&mut self) {
        self.is_waiting = false;
        self.has_led = false;
    }

    fn advance(&mut self) {
        if let Some(first) = self.claims.front_mut() {
            first.asks.get_or_insert(self.asks.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: ParticipantId = ParticipantId(1);
    const ADA: ParticipantId = ParticipantId(2);
    const BOB: ParticipantId = ParticipantId(3);

    fn there(clock: u8) -> StateVector {
        StateVector::parse(&[1, 5, clock]).unwrap()
    }

    #[test]
    fn the_first_one_answers_all_that_was_asked_before() {
        let mut claims = Claims::default();
        claims.ask(ADA, false, there(7));
        claims.ask(BOB, false, there(3));
        assert_eq!(claims.least(), Some(there(3)));
        claims.claim(BOB, false);
        claims.claim(OWN, true);
        assert!(!claims.leads());
        assert!(!claims.done(BOB, false), "it has not everything itself");
        assert!(claims.leads() && claims.is_asked());
        claims.led();
        assert!(!claims.leads() && !claims.is_asked());
        assert!(!claims.done(OWN, true));
        assert!(claims.asks.is_empty() && claims.claims.is_empty());
    }

    #[test]
    fn an_own_question_is_answered_by_who_claimed_after_it() {
        let mut claims = Claims::default();
        claims.claim(ADA, false);
        claims.ask(OWN, true, there(1));
        assert_eq!(claims.least(), None, "nobody else asks");
        claims.claim(BOB, false);
        assert!(!claims.done(ADA, true), "she did not know");
        assert!(claims.done(BOB, true));
    }

    #[test]
    fn who_is_gone_neither_leads_nor_asks() {
        let mut claims = Claims::default();
        claims.claim(ADA, false);
        claims.claim(OWN, true);
        claims.ask(ADA, false, there(1));
        claims.departed(ADA);
        assert!(claims.leads() && !claims.is_asked());
        claims.is_waiting = true;
        claims.forget();
        assert!(!claims.leads() && !claims.is_waiting);
    }
}
