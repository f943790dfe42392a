//! Converts errors of the session to JavaScript errors with a message, a `code` (the error's name)
//! and a `fault` (who is at fault).

use alloc::string::ToString;

use groupwire_session::{Error, Fault};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::plain::Plain;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Error)]
    type Failure;

    #[wasm_bindgen(constructor, js_class = Error)]
    fn new(message: &str) -> Failure;
}

/// Creates the JavaScript `Error` that is thrown for `error`. No peer has a part in it: the caller
/// asked for something wrong.
pub(crate) fn thrown(error: Error) -> JsValue {
    let failure: Plain = Failure::new(&error.to_string()).unchecked_into();
    let fault = if error.fault() == Fault::Peer { "own" } else { fault(&error) };
    failure.with("code", error.name()).with("fault", fault).into()
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
