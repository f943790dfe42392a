//! Plain JavaScript objects.

use alloc::string::String;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A JavaScript object without a class. The constructor creates the empty object `{}`.
    #[wasm_bindgen(js_name = Object)]
    pub type Plain;

    #[wasm_bindgen(constructor, js_class = Object)]
    pub(crate) fn new() -> Plain;

    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Plain, key: &str, value: JsValue);

    // One function for each type instead of one for each field makes the JavaScript smaller.
    #[wasm_bindgen(method, indexing_getter)]
    pub(crate) fn number(this: &Plain, key: &str) -> Option<f64>;

    #[wasm_bindgen(method, indexing_getter)]
    pub(crate) fn text(this: &Plain, key: &str) -> Option<String>;

    #[wasm_bindgen(method, indexing_getter)]
    pub(crate) fn flag(this: &Plain, key: &str) -> Option<bool>;
}

impl Plain {
    /// Creates an object whose field `type` is `kind`.
    pub(crate) fn of(kind: &str) -> Self {
        Plain::new().with("type", kind)
    }

    /// Sets a field. It is not inlined, because dozens of inlined copies would make the module larger.
    #[inline(never)]
    fn put(&self, key: &str, value: JsValue) {
        self.set(key, value);
    }

    /// Adds a field to the object and returns the object.
    pub(crate) fn with(self, key: &str, value: impl Into<JsValue>) -> Self {
        self.put(key, value.into());
        self
    }
}
