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

    #[wasm_bindgen(method, indexing_getter)]
    fn get(this: &Plain, key: &str) -> JsValue;
}

impl Plain {
    /// A field that is a number. A value of another type counts as no field: the bindings would
    /// read it as the type that they expect, and reach memory that is not theirs.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.get(key).as_f64()
    }

    /// A field that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.get(key).as_string()
    }

    /// A field that is true or false.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).as_bool()
    }

    /// Creates an object whose field `type` is `kind`.
    pub(crate) fn of(kind: &str) -> Self {
        Plain::new().with("type", kind)
    }

    /// Sets a field. It is not inlined, because dozens of inlined copies would make the module
    /// larger.
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
