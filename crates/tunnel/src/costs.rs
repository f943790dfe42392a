//! What codecs cost on this machine.

use std::sync::OnceLock;
use std::time::Instant;

use groupwire_codecs::{ALL, Costs};

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Measures in the background, once in the life of the process; it takes some 30 ms of one processor.
pub(crate) fn measure() {
    if MEASURED.get().is_none() {
        tokio::task::spawn_blocking(|| {
            MEASURED.get_or_init(|| {
                let start = Instant::now();
                Costs::measure(ALL, Costs::SAMPLES, || start.elapsed())
            });
        });
    }
}

/// What was measured; until then what is built in.
pub(crate) fn known() -> Costs {
    MEASURED.get().cloned().unwrap_or_else(Costs::reference)
}
