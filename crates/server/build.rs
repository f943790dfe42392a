//! Says where the web pages are that the crate embeds, and rebuilds the crate when they were built again.
//!
//! In the repository they are where they are built. A package of this crate has them in `pages/`, where
//! `scripts/package.sh` puts them before packing.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let [root, out] = ["CARGO_MANIFEST_DIR", "OUT_DIR"]
        .map(|name| PathBuf::from(env::var_os(name).unwrap_or_default()));
    let packed = root.join("pages");
    println!("cargo::rerun-if-changed={}", packed.display());

    let mut code = String::new();
    for (page, name) in
        [("whiteboard", "Whiteboard"), ("puzzle", "Puzzle"), ("inspector", "Inspector")]
    {
        let built = root.join("../../web").join(page).join("dist");
        let folder = if packed.is_dir() { packed.join(page) } else { built };
        println!("cargo::rerun-if-changed={}", folder.display());
        // As a literal of Rust, quotes and backslashes of a path are escaped.
        let folder = format!("{:?}", folder.display().to_string());
        code += &format!(
            "#[derive(Embed)]\n#[folder = {folder}]\n#[allow_missing = true]\nstruct {name};\n\n"
        );
    }
    fs::write(out.join("pages.rs"), code)
}
