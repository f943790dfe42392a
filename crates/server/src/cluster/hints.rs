//! Waits for hints of the engine, which tell which logs have new entries.

use std::time::Duration;

use groupwire_engine::Hints;
use tokio::time::sleep;

/// Hints are asked for again after this time, if the engine could not give them.
const AGAIN: Duration = Duration::from_secs(1);

/// The next log with new entries; `None` if hints have to be asked for again.
pub(super) async fn next_hint(hints: &mut Option<Hints>) -> Option<u16> {
    let Some(hints) = hints else {
        sleep(AGAIN).await;
        return None;
    };
    hints.recv().await
}
