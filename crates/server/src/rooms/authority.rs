//! The server's one [`Authority`], handed to every room.

use std::sync::Arc;

use groupwire_session::{
    AllowAll, Authority, ChangeRequest, Grant, Identity, OpenRequest, PartRequest, Qos, Quota,
};

/// Forwards every question of a room to the authority of the server's configuration, except those
/// about the server's own participants, which may do everything.
pub(crate) struct SharedAuthority {
    configured: Arc<dyn Authority + Send + Sync>,
    own: Identity,
}

impl SharedAuthority {
    /// `own`: the identity of the server's own participants.
    pub(crate) fn new(configured: Arc<dyn Authority + Send + Sync>, own: Identity) -> Self {
        SharedAuthority { configured, own }
    }

    fn of(&self, identity: &Identity) -> &dyn Authority {
        if *identity == self.own { &AllowAll } else { &*self.configured }
    }
}

// A missing method would silently replace the rule of the configured authority by the trait's
// default.
#[deny(clippy::missing_trait_methods)]
impl Authority for SharedAuthority {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        self.of(request.identity).open(request)
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        self.of(request.identity).change(request)
    }

    fn quota(&self, identity: &Identity, usual: Quota) -> Quota {
        if *identity == self.own { Quota::NONE } else { self.configured.quota(identity, usual) }
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        self.of(request.identity).part(request)
    }
}
