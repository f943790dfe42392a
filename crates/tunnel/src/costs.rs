//! The time that codecs take on this machine.

use std::sync::OnceLock;
use std::time::Instant;

use groupwire_codecs::{ALL, Costs};

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Starts the measurement in the background, once per process. It takes about 30 ms of one
/// processor.
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

/// The measured costs; the built-in reference until the measurement is complete.
pub(crate) fn known() -> Costs {
    MEASURED.get().cloned().unwrap_or_else(Costs::reference)
}
