//! What codecs cost on this machine, and a clock to measure it with.

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use groupwire_session::codecs::{ALL, Costs};

use crate::shared::Shared;

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Tells the machine what codecs cost, once that is known: it is measured in the background, once in the life of the
/// process, which takes some 30 ms of one processor. Until then it has what is built in.
pub(crate) fn measure(shared: Arc<Shared>) {
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

/// The time since it was first asked for.
pub(crate) fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
