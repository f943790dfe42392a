//! What codecs cost on this machine.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use groupwire_session::codecs::{ALL, Costs};

use crate::shared::Shared;

/// Messages such as applications send.
const SAMPLES: &[&[u8]] = &[
    br#"{"type":"move","shape":"s-17","x":477.30555555555554,"y":212.5,"by":"Ada"}"#,
    br##"{"type":"stroke","color":"#3b82f6","width":3,"points":[[12,7],[14,9],[19,12],[27,16]]}"##,
    b"It was the best of times, it was the worst of times, it was the age of wisdom",
];

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
            Costs::measure(ALL, SAMPLES, || start.elapsed())
        });
        shared.lock().client.set_costs(costs.clone());
    });
}
