//! Pages are embedded as they were built last; this notices when they were built again.

fn main() {
    for page in ["whiteboard", "puzzle", "inspector"] {
        println!("cargo::rerun-if-changed=../../web/{page}/dist");
    }
}
