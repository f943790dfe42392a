//! `groupwire store`: looks into, copies and mends the folder of stored rooms.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use groupwire_server::admin::{self, Reply, Request};
use groupwire_server::store::{self, Keys, OpenError, Options, Store, Stores, Summary};

/// The options of `groupwire store`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read everything, and report what is stored and what is damaged. Works while a server runs,
    /// and on exports.
    Check {
        /// The folder of `groupwire serve --data`, or the file of an export.
        path: PathBuf,
    },
    /// List the rooms. Works while a server runs.
    List {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
    },
    /// Copy rooms to one file, which shows one moment. Works while a server runs. Keys are not
    /// copied.
    Export {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
        /// The file to write. It must not exist.
        file: PathBuf,
        /// Only these rooms. Default: all.
        #[arg(long = "room", value_name = "NAME")]
        rooms: Vec<String>,
    },
    /// Take rooms from the file of an export. Their clients are told of a gap. Works while a server
    /// runs.
    Import {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
        /// The file of the export.
        file: PathBuf,
        /// Only these rooms. Default: all.
        #[arg(long = "room", value_name = "NAME")]
        rooms: Vec<String>,
        /// Replace rooms that exist.
        #[arg(long)]
        replace: bool,
    },
    /// Delete a room. Works while a server runs: participants of the room come back to an empty
    /// one, and apps that still have the content may send it again.
    Delete {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
        /// The name of the room.
        room: String,
        /// Wait until no byte of the room is on the disk. Default: a server erases it in the
        /// background.
        #[arg(long)]
        now: bool,
    },
    /// Make a new database of everything that can be read. Clients are told of a gap. No server may
    /// run on the folder.
    Repair {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
    },
    /// Make a new key for the secrets of sessions. Sessions of the previous key can be resumed for
    /// 24 hours. A running server takes the new key when it is restarted.
    RotateKey {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
    },
}

pub(crate) fn run(args: Args) -> Result<ExitCode, Box<dyn Error>> {
    match args.command {
        Command::Check { path } => {
            let summary = store::check(path)?;
            print(&summary);
            if summary.damaged > 0 {
                eprintln!(
                    "groupwire: some of it is damaged: `groupwire store repair` keeps the rest"
                );
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::List { folder } => {
            let Reply::Rooms(rooms) = carry_out(&folder, Request::List)? else {
                return unexpected();
            };
            println!("{:>10} {:>12}  room", "records", "bytes");
            for room in rooms {
                println!("{:>10} {:>12}  {}", room.records, room.bytes, room.name.escape_debug());
            }
        }
        Command::Export { folder, file, rooms } => {
            let wanted = Wanted::new(rooms);
            print(&store::export(folder, file, |name| wanted.contains(name))?);
            wanted.check()?;
        }
        Command::Import { folder, file, rooms, replace } => {
            // A server has another working directory.
            let path = std::path::absolute(&file)?;
            let request = Request::Import { file: path, rooms: rooms.clone(), replace };
            let Reply::Imported(names) = carry_out(&folder, request)? else { return unexpected() };
            println!("imported rooms: {}", names.len());
            if let Some(missing) = rooms.iter().find(|room| !names.contains(room)) {
                return Err(no_room(missing).into());
            }
        }
        Command::Delete { folder, room, now } => {
            carry_out(&folder, Request::Delete { room: room.clone(), now })?;
            println!("deleted: {}", room.escape_debug());
        }
        Command::Repair { folder } => {
            print(&store::repair(&folder, random)?);
            println!(
                "The damaged files are kept as {}*: delete them when nothing is missed.",
                folder.join("rooms.damaged").display()
            );
        }
        Command::RotateKey { folder } => _ = Keys::rotate(folder, now_ms())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Carries a command out, or lets the server do it that uses the folder.
fn carry_out(folder: &Path, request: Request) -> Result<Reply, Box<dyn Error>> {
    // A folder that is named by mistake is not created.
    if !folder.is_dir() {
        return Err(OpenError::NoStore(folder.to_path_buf()).into());
    }
    let reply = match Store::open(folder, Options::default()) {
        Ok(store) => admin::carry_out(&Stores::new(store), request, |_| {}),
        Err(in_use @ OpenError::InUse { .. }) => admin::ask(folder, &request)
            .map_err(|error| format!("{in_use}\nThat process could not be asked: {error}"))?,
        Err(error) => return Err(error.into()),
    };
    match reply {
        Reply::Failed(reason) => Err(reason.into()),
        reply => Ok(reply),
    }
}

/// The rooms that `--room` names; all if it names none.
struct Wanted {
    names: Vec<String>,
    found: RefCell<BTreeSet<String>>,
}

impl Wanted {
    fn new(names: Vec<String>) -> Self {
        Wanted { names, found: RefCell::default() }
    }

    fn contains(&self, name: &str) -> bool {
        self.found.borrow_mut().insert(name.to_owned());
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    /// Refuses a name that no room has.
    fn check(&self) -> Result<(), String> {
        let found = self.found.borrow();
        match self.names.iter().find(|name| !found.contains(*name)) {
            Some(name) => Err(no_room(name)),
            None => Ok(()),
        }
    }
}

fn unexpected() -> Result<ExitCode, Box<dyn Error>> {
    Err("the server answered something else: its version differs from this program's".into())
}

fn no_room(name: &str) -> String {
    format!("there is no room {name:?}; `groupwire store list` names all rooms of a folder")
}

fn print(summary: &Summary) {
    let Summary { rooms, records, parts, damaged } = summary;
    println!("rooms: {rooms}, transactions: {records}, snapshots: {parts}, damaged: {damaged}");
}

fn now_ms() -> u64 {
    (Options::default().clock)()
}

/// Draws the number of a new incarnation.
fn random() -> u64 {
    groupwire_server::random_number()
}
