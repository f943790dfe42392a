//! Converts errors of the session to JavaScript errors with a message, a `code` (the error's name) and a `fault` (who
//! is at fault).

use alloc::string::ToString;

use groupwire_session::{Error, Fault};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Error)]
    type Failure;

    #[wasm_bindgen(constructor, js_class = Error)]
    fn new(message: &str) -> Failure;

    #[wasm_bindgen(method, setter)]
    fn set_code(this: &Failure, code: &str);

    #[wasm_bindgen(method, setter)]
    fn set_fault(this: &Failure, fault: &str);
}

/// Creates the JavaScript `Error` that is thrown for `error`.
pub(crate) fn thrown(error: Error) -> JsValue {
    let failure = Failure::new(&error.to_string());
    failure.set_code(error.name());
    failure.set_fault(fault(&error));
    failure.into()
}

pub(crate) fn fault(error: &Error) -> &'static str {
    match error.fault() {
        Fault::Peer => "peer",
        Fault::Incompatible => "incompatible",
        Fault::Limit => "limit",
        Fault::Refused => "refused",
        Fault::Own => "own",
    }
}
