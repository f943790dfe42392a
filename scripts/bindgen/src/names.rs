//! Shortens the names by which a module and its JavaScript know each other. wasm-bindgen's names
//! are long and hold hashes, which cannot be compressed, and both files hold them.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use walrus::{ExportItem, Module};

use crate::parse;
use crate::returns;

/// Shortens the names in the module and the JavaScript that wasm-bindgen has written into `folder`.
pub fn shorten(folder: &Path) -> Result<(), Box<dyn Error>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let paths = paths.collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
    let with = |end: &str| {
        let mut found = paths.iter().filter(|path| path.to_string_lossy().ends_with(end));
        found.next().ok_or_else(|| format!("wasm-bindgen wrote no *{end}"))
    };
    let (wasm, glue) = (with("_bg.wasm")?, with(".js")?);
    let mut module = parse(&fs::read(wasm)?)?;
    returns::check(&module)?;
    let glue_text = shorten_both(&mut module, fs::read_to_string(glue)?)?;
    fs::write(wasm, module.emit_wasm())?;
    fs::write(glue, glue_text)?;
    // The `.d.ts` file declares the exports by their old names, and nothing imports it.
    Ok(fs::remove_file(with("_bg.wasm.d.ts")?)?)
}

fn shorten_both(module: &mut Module, mut glue: String) -> Result<String, Box<dyn Error>> {
    for (at, import) in module.imports.iter_mut().enumerate() {
        let name = short(at);
        glue = replace(
            &glue,
            &format!(" {}: function(", import.name),
            &format!(" {name}: function("),
        )?;
        import.name = name;
    }
    let exports = module.exports.iter_mut();
    // The memory keeps its name, which other code uses, too.
    let exports = exports.filter(|export| !matches!(export.item, ExportItem::Memory(_)));
    for (at, export) in exports.enumerate() {
        let name = short(at);
        glue = replace_uses(&glue, &export.name, &name);
        export.name = name;
    }
    Ok(glue)
}

/// `a` to `z`, then `aa` and so on.
fn short(at: usize) -> String {
    let last = char::from(b'a' + (at % 26) as u8);
    if at < 26 { last.into() } else { short(at / 26 - 1) + &last.to_string() }
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Box<dyn Error>> {
    if text.matches(from).count() != 1 {
        return Err(format!("the JavaScript of wasm-bindgen does not hold \"{from}\" once").into());
    }
    Ok(text.replace(from, to))
}

/// Replaces `wasm.NAME` wherever it is not the beginning of a longer name.
fn replace_uses(text: &str, name: &str, to: &str) -> String {
    let from = format!("wasm.{name}");
    let mut parts = text.split(&from);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer =
            part.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '$');
        replaced.push_str(if is_longer { &from } else { "wasm." });
        if !is_longer {
            replaced.push_str(to);
        }
        replaced.push_str(part);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_unlike() {
        let names: Vec<String> = (0..1000).map(short).collect();
        assert_eq!([&names[0], &names[25], &names[26], &names[702]], ["a", "z", "aa", "aaa"]);
        let unlike: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(unlike.len(), names.len());
    }

    #[test]
    fn only_whole_names_are_replaced() {
        let text = "wasm.close(1); wasm.closed(2); wasm.close_all; close(wasm.close)";
        let expected = "wasm.a(1); wasm.closed(2); wasm.close_all; close(wasm.a)";
        assert_eq!(replace_uses(text, "close", "a"), expected);
    }

    #[test]
    fn a_missing_import_is_an_error() {
        assert!(replace("a: function(", " b: function(", " c: function(").is_err());
    }
}
