//! The whiteboard is embedded as it was built last; this notices when it was built again.

fn main() {
    println!("cargo::rerun-if-changed=../../web/whiteboard/dist");
}
