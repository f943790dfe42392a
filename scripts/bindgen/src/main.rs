//! Makes the JavaScript for a WebAssembly module, as the command `wasm-bindgen --target web --out-dir FOLDER MODULE` does.
//! It is that command's library alone, which takes a fraction of the time to compile.
//!
//! ```text
//! groupwire-bindgen MODULE FOLDER
//! ```

use std::env;
use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(module), Some(folder), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: groupwire-bindgen MODULE FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let made = bindgen
        .input_path(&module)
        .omit_default_module_path(false)
        .web(true)
        .and_then(|bindgen| bindgen.typescript(true).generate(&folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groupwire-bindgen: {}: {error:#}", Path::new(&module).display());
            ExitCode::FAILURE
        }
    }
}
