//! The CPU time that codecs take on this machine, measured once, and the clock to measure it with.

use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};

use groupwire_session::codecs::{ALL, Costs};

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Measures the codecs in the background, once per process. The measurement takes about 30 ms of
/// one processor.
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

/// The measured costs, or the built-in reference costs until the measurement is done.
pub(crate) fn known() -> Costs {
    MEASURED.get().cloned().unwrap_or_else(Costs::reference)
}

/// The time since the first call of this function.
pub(crate) fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
