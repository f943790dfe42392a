//! The committed header is what cbindgen makes of the sources.

use std::path::Path;

#[test]
fn the_committed_header_is_that_of_the_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let sources =
        ["types", "call", "rooms", "channels", "messages", "event", "shared/mod", "stats"];
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), |to, name| {
        to.with_src(here.join("src").join(name).with_extension("rs"))
    });
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    // What Rust calls safety is to C what the arguments have to be.
    let made = String::from_utf8(made).unwrap().replace(" # Safety\n", "");
    let path = here.join("include/groupwire.h");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "the sources have changed: UPDATE=1 cargo test --package groupwire-c --test header"
    );
}
