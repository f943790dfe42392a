//! Shows the status of the connections on the terminal and writes it to a file.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use groupwire_server::store::create_private;
use groupwire_tunnel::{Connections, Status};

use super::line::{heading, line};
use super::record::record;
use super::screen::Screen;

/// The interval at which the table is redrawn and ended connections are printed: often enough for a
/// person.
const UPDATE_EVERY: Duration = Duration::from_secs(1);

/// The default interval at which open connections are written to the file: a few MB a day for one
/// connection.
const FILE_EVERY: Duration = Duration::from_secs(10);

/// The most time that the last output may take when the tunnel stops. A reader of a pipe may be
/// slow or stopped.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// The options for the status of connections.
#[derive(Debug, Clone, ClapArgs)]
pub(super) struct StatusArgs {
    /// Show a line for each open connection on the terminal, updated every second.
    #[arg(long)]
    status: bool,

    /// Write a line for each open connection at this interval too, not only when a connection ends.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86400))]
    status_every: Option<u64>,

    /// Print no lines about connections.
    #[arg(long, conflicts_with_all = ["status", "status_every"])]
    quiet: bool,

    /// Append a JSON object for each connection to this file when it ends, and every 10 seconds or
    /// as --status-every says.
    #[arg(long, value_name = "FILE")]
    status_file: Option<PathBuf>,
}

/// Handle of the thread that shows the status. It is a thread of its own because writing to a
/// terminal, a pipe or a disk may block.
pub(super) struct StatusThread {
    stop: Sender<()>,
    stopped: Receiver<()>,
}

impl StatusArgs {
    pub(super) fn start(
        &self,
        connections: Connections,
        screen: Arc<Screen>,
    ) -> Result<StatusThread, Box<dyn Error>> {
        let file = self.status_file.as_deref().map(Output::file).transpose()?;
        let every = self.status_every.map(Duration::from_secs);
        let updater = Updater {
            connections,
            is_live: self.status && screen.is_terminal(),
            lines: (!self.quiet).then(|| Output {
                name: "standard output".to_owned(),
                is_broken: false,
                to: (),
            }),
            lines_every: every,
            has_heading: false,
            file,
            file_every: every.unwrap_or(FILE_EVERY),
            screen,
        };
        let (stop, stopping) = channel();
        let (stopped_sender, stopped) = channel();
        thread::Builder::new().name("status".to_owned()).spawn(move || {
            updater.run(&stopping);
            let _ = stopped_sender.send(());
        })?;
        Ok(StatusThread { stop, stopped })
    }
}

impl StatusThread {
    /// Stops the thread after a last update.
    pub(super) fn stop(self) {
        let _ = self.stop.send(());
        let _ = self.stopped.recv_timeout(STOP_WITHIN);
    }
}

struct Updater {
    connections: Connections,
    screen: Arc<Screen>,
    /// Whether a table is redrawn in place.
    is_live: bool,
    lines: Option<Output<()>>,
    lines_every: Option<Duration>,
    has_heading: bool,
    file: Option<Output<File>>,
    file_every: Duration,
}

impl Updater {
    fn run(mut self, stopping: &Receiver<()>) {
        let start = Instant::now();
        let (mut lines_due, mut file_due) = (self.lines_every, self.file_every);
        loop {
            let is_last = stopping.recv_timeout(UPDATE_EVERY) != Err(RecvTimeoutError::Timeout);
            let now = start.elapsed();
            let (ended, open) = (self.connections.take_ended(), self.connections.open());
            let are_lines_due = lines_due.is_some_and(|due| due <= now) && !self.is_live;
            if are_lines_due {
                lines_due = self.lines_every.map(|every| now + every);
            }
            let is_file_due = file_due <= now;
            if is_file_due {
                file_due = now + self.file_every;
            }
            self.show(&ended, &open, are_lines_due, is_last);
            let recorded = if is_file_due { &open[..] } else { &[] };
            self.write_file(ended.iter().chain(recorded));
            if is_last {
                return;
            }
        }
    }

    fn show(&mut self, ended: &[Status], open: &[Status], are_lines_due: bool, is_last: bool) {
        let Some(output) = &mut self.lines else { return };
        let mut lines: Vec<_> = ended.iter().map(line).collect();
        if are_lines_due {
            lines.extend(open.iter().map(line));
        }
        let is_table = self.is_live && !is_last && !open.is_empty();
        if !lines.is_empty() && !self.has_heading {
            lines.insert(0, heading());
            self.has_heading = true;
        }
        let table = if is_table {
            [heading()].into_iter().chain(open.iter().map(line)).collect()
        } else {
            Vec::new()
        };
        if self.is_live || !lines.is_empty() {
            output.attempt(|()| self.screen.draw(&lines, &table));
        }
    }

    fn write_file<'a>(&mut self, statuses: impl Iterator<Item = &'a Status>) {
        let Some(output) = &mut self.file else { return };
        let text: String = statuses.map(|status| format!("{}\n", record(status))).collect();
        output.attempt(|file| file.write_all(text.as_bytes()));
    }
}

/// A destination of the status. A failure is logged once, and the tunnel continues.
struct Output<T> {
    name: String,
    is_broken: bool,
    to: T,
}

impl Output<File> {
    fn file(path: &Path) -> Result<Self, String> {
        // A new file is for this user alone. One that is there, such as a pipe, keeps its rights.
        let _ = create_private(path);
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Output { name: path.display().to_string(), is_broken: false, to: file })
    }
}

impl<T> Output<T> {
    fn attempt(&mut self, write: impl FnOnce(&mut T) -> io::Result<()>) {
        match write(&mut self.to) {
            Ok(()) => self.is_broken = false,
            Err(error) if !self.is_broken => {
                self.is_broken = true;
                tracing::warn!(
                    "cannot write the status to {}: {error}; the tunnel goes on",
                    self.name
                );
            }
            Err(_) => {}
        }
    }
}
