//! Programs that know nothing of it, with `groupwire tunnel` between them: curl fetches files from
//! an HTTP server, a crowd connects at once, and noise shows what it costs where nothing is gained.

mod crowd;
mod fetch;
mod noise;
mod pair;
mod site;

use std::io;

use super::row::{self, Part};
use super::{Files, Options};
use crate::emulator::{Emulator, Namespace, Path as LinkPath};
use crate::host::Folder;
use crate::{Result, Row, Update};

/// Runs what is asked for of this part.
///
/// # Errors
/// Networks that cannot be set up, sockets and processes that fail.
pub(super) fn run(
    namespace: &Namespace,
    options: &Options,
    files: &Files,
    emit: &mut dyn FnMut(Update),
) -> Result<()> {
    // The emulator also brings up the loopback device, which the proxies need.
    let emulator = Emulator::start(namespace, &[LinkPath::default()])?;
    let program = options.program.path()?;
    fetch::run(&emulator, (options, &program), files, emit)?;
    if options.includes(crowd::SCENARIO) && options.asks_for(crowd::POLICY) {
        emit(Update::Row(crowd::run((options, &program), files)?));
    }
    if options.includes(noise::SCENARIO) {
        noise::run((options, &program), emit)?;
    }
    Ok(())
}

/// A temporary folder, which is removed when the value is dropped.
fn folder() -> io::Result<Folder> {
    Folder::new(&std::env::temp_dir()).map_err(io::Error::other)
}

fn row(options: &Options, scenario: &str, file: &str, policy: &str) -> Row {
    row::row((Part::Tunnel, &options.common), scenario, file, policy)
}
