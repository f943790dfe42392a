//! The settings of a simulated room, from a JavaScript object. A field that is missing has the
//! default of a server.

use groupwire_session::Durability;
use groupwire_session::room::Config;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::time::time;

#[wasm_bindgen]
extern "C" {
    /// `RoomSettings` of `web/client/src/testing/room-module.ts`.
    #[wasm_bindgen(typescript_type = "object")]
    pub type Settings;

    #[wasm_bindgen(method, getter)]
    fn durability(this: &Settings) -> Option<String>;

    #[wasm_bindgen(method, getter)]
    fn tick(this: &Settings) -> Option<f64>;

    #[wasm_bindgen(method, getter)]
    fn away(this: &Settings) -> Option<f64>;

    #[wasm_bindgen(method, getter, js_name = snapshotAfter)]
    fn snapshot_after(this: &Settings) -> Option<f64>;

    #[wasm_bindgen(method, getter, js_name = maxLogBytes)]
    fn max_log_bytes(this: &Settings) -> Option<f64>;

    #[wasm_bindgen(method, getter, js_name = maxFormer)]
    fn max_former(this: &Settings) -> Option<f64>;
}

/// Changes a configuration by the fields that are there.
pub(crate) fn apply(settings: &Settings, config: &mut Config) {
    config.durability = match settings.durability().as_deref() {
        Some("local") => Durability::Local,
        Some("cluster") => Durability::Cluster,
        _ => Durability::Memory,
    };
    let (timing, limits) = (&mut config.timing, &mut config.limits);
    set(&mut timing.tick, settings.tick().map(time));
    set(&mut timing.away, settings.away().map(time));
    set(&mut limits.snapshot_after, settings.snapshot_after().map(|count| count as usize));
    set(&mut limits.max_log_bytes, settings.max_log_bytes().map(|bytes| bytes as usize));
    set(&mut limits.max_former, settings.max_former().map(|count| count as usize));
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
