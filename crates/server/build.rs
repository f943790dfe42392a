//! Rebuilds the crate when the embedded web pages were built again.

fn main() {
    for page in ["whiteboard", "puzzle", "inspector"] {
        println!("cargo::rerun-if-changed=../../web/{page}/dist");
    }
}
