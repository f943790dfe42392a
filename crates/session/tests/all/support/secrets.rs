//! Secrets of sessions that a simulation draws, so that its packets repeat from its seed.

use std::cell::RefCell;
use std::collections::BTreeMap;

use groupwire_session::{Secret, Secrets, SessionName};

/// Incarnation, participant and identity.
type Session = (u64, u32, Vec<u8>);

/// Gives each new session the secret that was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    next: Secret,
    known: RefCell<BTreeMap<Session, Secret>>,
}

impl Drawn {
    /// Sets the secret of the next new session.
    pub(crate) fn draw(&mut self, secret: Secret) -> &Self {
        self.next = secret;
        self
    }
}

impl Secrets for Drawn {
    fn secret(&self, session: &SessionName<'_>) -> Secret {
        let SessionName { incarnation, participant, identity, .. } = *session;
        let session = (incarnation, participant.get(), identity.to_vec());
        *self.known.borrow_mut().entry(session).or_insert(self.next)
    }
}
