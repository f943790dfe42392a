//! The program `groupwire-lab`: experiments that compare Groupwire with similar software
//! (lab/README.md).

use std::process::ExitCode;

fn main() -> ExitCode {
    groupwire_lab::main()
}
