//! The server's one [`Authority`], handed to every room.

use std::sync::Arc;

use groupwire_session::{
    Authority, ChangeRequest, Grant, Identity, OpenRequest, PartRequest, Qos, Quota,
};

/// Forwards every question of a room to the authority of the server's configuration.
pub(crate) struct SharedAuthority(pub(crate) Arc<dyn Authority + Send + Sync>);

// A missing method would silently replace the rule of the configured authority by the trait's default.
#[deny(clippy::missing_trait_methods)]
impl Authority for SharedAuthority {
    fn open(&self, request: &OpenRequest<'_>) -> Result<Grant, String> {
        self.0.open(request)
    }

    fn change(&self, request: &ChangeRequest<'_>) -> Result<Qos, String> {
        self.0.change(request)
    }

    fn quota(&self, identity: &Identity, usual: Quota) -> Quota {
        self.0.quota(identity, usual)
    }

    fn part(&self, request: &PartRequest<'_>) -> Result<(), String> {
        self.0.part(request)
    }
}
