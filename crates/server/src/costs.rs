//! What codecs cost on this machine.

use std::sync::OnceLock;
use std::time::Instant;

use groupwire_session::codecs::{ALL, Costs};

/// Messages like those of the applications here.
const SAMPLES: &[&[u8]] = &[
    br#"{"type":"move","shape":"s-17","x":477.30555555555554,"y":212.5,"by":"Ada"}"#,
    br##"{"type":"stroke","color":"#3b82f6","width":3,"points":[[12,7],[14,9],[19,12],[27,16]]}"##,
    b"It was the best of times, it was the worst of times, it was the age of wisdom",
];

static MEASURED: OnceLock<Costs> = OnceLock::new();

/// Measures in the background, once in the life of the process; it takes some 30 ms of one processor.
pub(crate) fn measure() {
    if MEASURED.get().is_none() {
        tokio::task::spawn_blocking(|| {
            MEASURED.get_or_init(|| {
                let start = Instant::now();
                Costs::measure(ALL, SAMPLES, || start.elapsed())
            });
        });
    }
}

/// What was measured; until then what is built in.
pub(crate) fn known() -> Costs {
    MEASURED.get().cloned().unwrap_or_else(Costs::reference)
}
