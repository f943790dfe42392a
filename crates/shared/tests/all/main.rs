//! Tests of shared data from outside.

#[path = "../../examples/replay/program.rs"]
mod program;
#[path = "../../examples/replay/sessions.rs"]
mod sessions;

mod hostile;
mod json;
mod vectors;
