//! What scripts/wasm.sh does with a compiled WebAssembly module: makes its JavaScript, as the
//! command `wasm-bindgen --target web --out-dir FOLDER MODULE` does, clears what only panic
//! messages need, splits a module into a first part and a second one that is loaded later, and
//! orders functions so that a module compresses well. And it compresses files: one by Zopfli, for
//! scripts/compress.mjs, and several one after the other by LZMA, which finds what they share.
//!
//! ```text
//! groupwire-bindgen bind MODULE FOLDER
//! groupwire-bindgen clear MODULE OUTPUT
//! groupwire-bindgen split MODULE BOUNDARY FIRST SECOND
//! groupwire-bindgen order MODULE OUTPUT
//! groupwire-bindgen gzip FILE OUTPUT
//! groupwire-bindgen pack OUTPUT FILES...
//! ```
//!
//! For the first command it is the library of `wasm-bindgen` alone, which takes a fraction of the
//! time to compile.

mod boundary;
mod locations;
mod names;
mod order;
mod returns;
mod split;

use std::env;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use boundary::Boundary;
use locations::clear_panic_locations;
use lzma_rust2::{LzmaOptions, LzmaWriter};
use walrus::{Module, ModuleConfig};
use wasm_bindgen_cli_support::Bindgen;
use zopfli::{Format, Options};

const USAGE: &str = "usage: groupwire-bindgen bind MODULE FOLDER
       groupwire-bindgen clear MODULE OUTPUT
       groupwire-bindgen split MODULE BOUNDARY FIRST SECOND
       groupwire-bindgen order MODULE OUTPUT
       groupwire-bindgen gzip FILE OUTPUT
       groupwire-bindgen pack OUTPUT FILES...";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["bind", module, folder] => bind(module, folder),
        ["clear", module, output] => clear(module, output),
        ["order", module, output] => order(module, output),
        ["gzip", file, output] => gzip(file, output),
        ["pack", output, ref files @ ..] if !files.is_empty() => pack(output, files),
        ["split", module, boundary, first, second] => split(module, boundary, first, second),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groupwire-bindgen: {}: {error:#}", arguments[1]);
            ExitCode::FAILURE
        }
    }
}

fn bind(module: &str, folder: &str) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    // Without the default path: the client says where the module is, and bundlers would include the
    // file twice.
    bindgen.input_path(module).omit_default_module_path(true).web(true)?.typescript(true);
    bindgen.generate(folder)?;
    names::shorten(Path::new(folder))
}

fn clear(module: &str, output: &str) -> Result<(), Box<dyn Error>> {
    let mut module = parse(&fs::read(module)?)?;
    clear_panic_locations(&mut module);
    Ok(fs::write(output, module.emit_wasm())?)
}

fn split(module: &str, boundary: &str, first: &str, second: &str) -> Result<(), Box<dyn Error>> {
    let boundary = Boundary::read(&fs::read_to_string(boundary)?)?;
    let parts = split::split(&fs::read(module)?, &boundary)?;
    fs::write(first, parts.first)?;
    fs::write(second, parts.second)?;
    println!("wasm: {} of {} functions are in the second part", parts.moved, parts.functions);
    Ok(())
}

fn order(module: &str, output: &str) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(output, order::order(&fs::read(module)?)?)?)
}

fn gzip(file: &str, output: &str) -> Result<(), Box<dyn Error>> {
    let mut made = Vec::new();
    zopfli::compress(Options::default(), Format::Gzip, &*fs::read(file)?, &mut made)?;
    Ok(fs::write(output, made)?)
}

/// Writes files, one after the other, as one file in the format that `xz --format=lzma` writes.
fn pack(output: &str, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    for file in files {
        bytes.extend(fs::read(file)?);
    }
    // The best preset. Machine code of WebAssembly is not aligned, so positions say nothing.
    let mut options = LzmaOptions::with_preset(9);
    (options.pb, options.lc) = (0, 4);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(bytes.len() as u64))?;
    writer.write_all(&bytes)?;
    Ok(fs::write(output, writer.finish()?)?)
}

/// Reads a module and keeps the names of its functions.
fn parse(wasm: &[u8]) -> Result<Module, Box<dyn Error>> {
    let mut config = ModuleConfig::new();
    config.generate_name_section(true).generate_producers_section(false);
    Ok(config.parse(wasm)?)
}
