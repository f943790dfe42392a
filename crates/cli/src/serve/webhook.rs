//! The options of the webhook: where events are sent, and which.

use std::path::{Path, PathBuf};

use clap::Args;
use groupwire_server::{EventKind, EventKinds, WebhookConfig, WebhookPauses, WebhookSecrets};

/// The options of the webhook.
#[derive(Debug, Args)]
pub(crate) struct WebhookArgs {
    /// Send events, such as that somebody joined, to this address: https://, or http:// on this
    /// machine. Requests are signed according to Standard Webhooks.
    /// docs/operations/webhooks.md lists the events.
    #[arg(long, value_name = "ADDRESS", requires = "webhook_secret_file")]
    webhook: Option<String>,

    /// A file with the secret that signs requests to --webhook: `whsec_` and base64 of 24 to 64
    /// bytes. To replace the secret, put two into the file, one on each line: requests then have a
    /// signature of each.
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_secret_file: Option<PathBuf>,

    /// The events that are sent to --webhook: some of participant.joined, participant.left,
    /// room.opened, room.empty, room.snapshot and room.transaction. Default: all but
    /// room.transaction.
    #[arg(long, value_name = "LIST", requires = "webhook", value_delimiter = ',')]
    webhook_events: Vec<EventKind>,
}

impl WebhookArgs {
    /// The configuration; `None` without --webhook. `root` is a certificate that is trusted beside
    /// the system's.
    ///
    /// # Errors
    /// What is wrong with an option or a file.
    pub(super) fn config(&self, root: Option<&Path>) -> Result<Option<WebhookConfig>, String> {
        let (Some(address), Some(file)) = (&self.webhook, &self.webhook_secret_file) else {
            return Ok(None);
        };
        let wrong = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let secrets = WebhookSecrets::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let events = match self.webhook_events.is_empty() {
            true => EventKinds::default(),
            false => self.webhook_events.iter().copied().collect(),
        };
        let config = WebhookConfig::new(address, secrets, events, root, WebhookPauses::default());
        config.map(Some).map_err(|why| format!("--webhook: {why}"))
    }
}
