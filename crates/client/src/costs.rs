//! The CPU time that codecs take on this machine, measured once, and the clock to measure it with.

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use groupwire_session::codecs::{ALL, Costs};

use crate::shared::SharedSession;

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Gives the session the measured costs of codecs. The first call in a process measures them in the
/// background, which takes about 30 ms of one processor; until then the session uses the built-in
/// reference costs.
pub(crate) fn measure(shared: Arc<SharedSession>) {
    if let Some(costs) = MEASURED.get() {
        return shared.lock().client.set_costs(costs.clone());
    }
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn_blocking(move || {
        let costs = MEASURED.get_or_init(|| {
            let start = Instant::now();
            Costs::measure(ALL, Costs::SAMPLES, || start.elapsed())
        });
        shared.lock().client.set_costs(costs.clone());
    });
}

/// The time since the first call of this function.
pub(crate) fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
