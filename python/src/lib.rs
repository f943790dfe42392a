//! The native part of the Python package: `groupwire-ffi` with Python's types, and what the package
//! does with bytes of Yjs documents. The package's own interface, and its documentation, is in
//! Python, in `groupwire/`.
//!
//! The thread of the client never takes the interpreter's lock: it writes into a socket that the
//! event loop waits for. So it cannot hinder the interpreter from ending.

mod convert;
mod events;
mod message;
mod room;
mod shared;
mod simulation;
mod yjs;

use pyo3::prelude::*;

/// The module `groupwire._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<message::Message>()?;
    module.add_class::<room::NativeRoom>()?;
    module.add_class::<shared::NativeShared>()?;
    module.add_class::<simulation::NativeSimulation>()?;
    module.add_class::<yjs::YjsPieces>()?;
    module.add_function(wrap_pyfunction!(yjs::yjs_check, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_lacks, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_news, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_diff, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_merge, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_least, module)?)?;
    module.add_function(wrap_pyfunction!(convert::voice_qos, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_control, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_claim, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_done, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_ask, module)?)?;
    module.add_function(wrap_pyfunction!(yjs::yjs_cut, module)?)?;
    Ok(())
}
