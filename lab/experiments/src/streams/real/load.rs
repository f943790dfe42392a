//! Dummy processes, which leave others only a share of a core (paper, section 5.1).

use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::thread;

use super::processor::{Core, pin, work};

/// The option that makes this program a dummy process, before the number of a core.
const DUMMY: &str = "--dummy";

/// Dummy processes on a core, which work when told to and end when this is dropped.
#[derive(Debug)]
pub(super) struct Load {
    children: Vec<(Child, ChildStdin)>,
}

impl Load {
    /// Starts `count` processes that work. All begin at once, or the last would hardly ever get
    /// ready beside the first.
    pub(super) fn start(core: Core, count: usize) -> io::Result<Load> {
        let mut load = Load::prepare(core, count)?;
        load.begin()?;
        Ok(load)
    }

    /// Starts `count` processes, which wait until they are told to [begin](Self::begin).
    pub(super) fn prepare(core: Core, count: usize) -> io::Result<Load> {
        let program = env::current_exe()?;
        let mut load = Load { children: Vec::new() };
        for _ in 0..count {
            let mut command = Command::new(&program);
            command.args(["ace", DUMMY, &core.number().to_string()]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn()?;
            let Some(input) = child.stdin.take() else { continue };
            load.children.push((child, input));
        }
        for (child, _) in &mut load.children {
            let ready = child.stdout.take().map(|mut output| output.read_exact(&mut [0]));
            ready
                .unwrap_or(Ok(()))
                .map_err(|_| io::Error::other("a dummy process does not start"))?;
        }
        Ok(load)
    }

    /// Lets all processes work.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.children.iter_mut().try_for_each(|(_, input)| input.write_all(b"g"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for (child, _) in &mut self.children {
            // The process may have ended already.
            let _ = child.kill();
        }
        for (child, _) in &mut self.children {
            let _ = child.wait();
        }
    }
}

/// Runs a dummy process: it reports that it is ready, waits for a word, and then works until its
/// standard input ends, which it does with the process that started it.
///
/// # Errors
/// A call to the operating system fails.
pub(crate) fn dummy(core: usize) -> io::Result<ExitCode> {
    pin(core)?;
    io::stdout().write_all(b"r")?;
    io::stdout().flush()?;
    io::stdin().read_exact(&mut [0])?;
    let watch = thread::spawn(|| io::stdin().read(&mut [0]));
    while !watch.is_finished() {
        work(100_000);
    }
    Ok(ExitCode::SUCCESS)
}
