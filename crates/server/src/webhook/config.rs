//! The configuration of the webhook: where events are sent, which events, and how.

use std::path::Path;
use std::time::Duration;

use hyper::Uri;

use super::event::EventKinds;
use super::secrets::WebhookSecrets;
use crate::tools::fetch::{Address, Fetcher};

/// How long a request may take: Standard Webhooks recommend 15 to 30 s.
const DEADLINE: Duration = Duration::from_secs(15);

/// Where events are sent, which, and how.
#[derive(Debug, Clone)]
pub struct WebhookConfig {
    pub(super) address: Uri,
    pub(super) secrets: WebhookSecrets,
    pub(super) fetcher: Fetcher,
    pub(super) events: EventKinds,
    pub(super) pauses: WebhookPauses,
}

/// The pauses before a request that failed is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookPauses {
    /// The first pause. Each further one is twice as long.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How long a request may take before it counts as failed.
    pub deadline: Duration,
}

impl Default for WebhookPauses {
    /// From 1 s to 5 min. Events keep their order, so all wait for the first one: a receiver that
    /// is back need not wait for hours, as it would with the longer pauses that Standard Webhooks
    /// suggest for single messages.
    fn default() -> Self {
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(300));
        WebhookPauses { first, longest, deadline: DEADLINE }
    }
}

impl WebhookConfig {
    /// Events of these kinds are sent to the address, https:// or http:// on this machine. `root`:
    /// a PEM file with a certificate that is trusted, beside those that the system trusts.
    ///
    /// # Errors
    /// What is wrong with the address or the file, for the operator.
    pub fn new(
        address: &str,
        secrets: WebhookSecrets,
        events: EventKinds,
        root: Option<&Path>,
        pauses: WebhookPauses,
    ) -> Result<Self, String> {
        let address = Address::parse(address)?;
        let fetcher = address.fetcher(root, pauses.deadline)?;
        Ok(WebhookConfig { address: address.uri, secrets, fetcher, events, pauses })
    }

    /// A configuration for tests, in which nothing is sent.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        let secrets = WebhookSecrets::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let events = super::EventKind::ALL.into_iter().collect();
        let pauses = WebhookPauses::default();
        let secrets = secrets.expect("it is a secret");
        let config = WebhookConfig::new("http://127.0.0.1:9/", secrets, events, None, pauses);
        config.expect("the system has certificates")
    }
}
