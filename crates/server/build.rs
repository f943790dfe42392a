//! Collects the files of the web pages that the crate embeds, each once, into `OUT_DIR/pages`.
//!
//! In the repository the pages are where they are built. A package of this crate has them in
//! `pages/`, where `scripts/package.sh` puts them before packing.
//!
//! The names of files in a page's folder `assets` contain a hash of their content, so that the
//! pages share one folder. Where there is a copy compressed by gzip, the file itself is left out:
//! `src/assets.rs` unpacks the copy for the few clients that do not take it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const PAGES: [&str; 3] = ["whiteboard", "puzzle", "inspector"];

fn main() -> io::Result<()> {
    let [root, out] =
        ["CARGO_MANIFEST_DIR", "OUT_DIR"].map(|name| env::var_os(name).map(PathBuf::from));
    let (root, out) = (root.unwrap_or_default(), out.unwrap_or_default().join("pages"));
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(out.join("assets"))?;

    println!("cargo::rerun-if-changed=build.rs");
    let packed = root.join("pages");
    for page in PAGES {
        fs::create_dir_all(out.join(page))?;
        let built = root.join("../../web").join(page).join("dist");
        let from = if packed.is_dir() { packed.join(page) } else { built };
        // Pages that are not built are watched by the folder around them: Cargo would run this
        // again at every build for a folder that is missing.
        let watched = if from.is_dir() { &from } else { from.parent().unwrap_or(&root) };
        println!("cargo::rerun-if-changed={}", watched.display());
        if from.is_dir() {
            collect(&from, &out.join(page))?;
            let assets = from.join("assets");
            if assets.is_dir() {
                collect(&assets, &out.join("assets"))?;
            }
        }
    }
    // As a literal of Rust, quotes and backslashes of the path are escaped.
    let folder = format!("{:?}", out.display().to_string());
    let code = format!("#[derive(Embed)]\n#[folder = {folder}]\nstruct Pages;\n");
    fs::write(out.with_extension("rs"), code)
}

/// Copies the files of one folder without those that are there compressed. Folders inside are left
/// out.
fn collect(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let mut compressed = name.clone();
        compressed.push(".gz");
        if entry.file_type()?.is_file() && !from.join(compressed).exists() {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
