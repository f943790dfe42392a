//! What a session knows of its transports.

use alloc::string::String;

/// The transports of a session, and what the one in use has yet to be told.
#[derive(Debug, Default)]
pub(super) struct Transports {
    /// Transports opened so far, the one in use included.
    pub(super) opened: u32,
    /// The number of HELLOs that asked to resume this session and were not answered: each of them
    /// may still reach the room, after a later one, and then the room takes the session over to a
    /// transport that is gone (W44).
    pub(super) unanswered: u32,
    /// The token has expired or was revoked, and the application has not given another one.
    pub(super) lacks_token: bool,
    /// True if the newest presence was not sent to the room yet.
    pub(super) presence_changed: bool,
    /// True if the last [`Event::Quiet`](super::Event::Quiet) told the application that the
    /// transport may be dead.
    pub(super) is_quiet: bool,
    /// Why the transport in use was chosen, for the inspector.
    pub(super) reason: String,
}

impl Transports {
    /// A transport was opened, and HELLO with the newest presence goes to it. `resumes`: it asks to
    /// resume the session.
    pub(super) fn open(&mut self, resumes: bool) {
        self.opened = self.opened.wrapping_add(1);
        self.unanswered = self.unanswered.saturating_add(u32::from(resumes));
        self.presence_changed = false;
    }

    /// WELCOME was received. HELLOs without an answer cannot take over a session that began after
    /// them.
    pub(super) fn answered(&mut self, resumed: bool) {
        self.unanswered = if resumed { self.unanswered.saturating_sub(1) } else { 0 };
    }
}
