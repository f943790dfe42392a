//! `groupwire store`: looks into, copies and mends the folder of stored rooms.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use groupwire_server::store::{self, Keys, Options, RoomLog, Store, Summary};

/// The options of `groupwire store`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read everything, and say what is there and what is damaged. Works while a server runs, and on exports.
    Check {
        /// The folder of `groupwire serve --data`, or the file of an export.
        path: PathBuf,
    },
    /// List the rooms. No server may run on the folder.
    List {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
    },
    /// Copy rooms to one file, which shows one moment. Works while a server runs. Keys are not copied.
    Export {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
        /// The file to write. It must not exist.
        file: PathBuf,
        /// Only these rooms. Default: all.
        #[arg(long = "room", value_name = "NAME")]
        rooms: Vec<String>,
    },
    /// Take rooms from the file of an export. Their clients are told of a gap. No server may run on the folder.
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
    /// Delete a room. No server may run on the folder.
    Delete {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
        /// The name of the room.
        room: String,
        /// Wait until no byte of it is on the disk. Default: a server erases it in the background.
        #[arg(long)]
        now: bool,
    },
    /// Make a new database of all that can be read. Clients are told of a gap. No server may run on the folder.
    Repair {
        /// The folder of `groupwire serve --data`.
        folder: PathBuf,
    },
    /// Make a new key for the secrets of sessions. Sessions of the one before can be resumed for 24 hours. A running server
    /// takes it when it is started again.
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
            let rooms = open(folder)?.rooms();
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
            let wanted = Wanted::new(rooms);
            let contains = |name: &str| wanted.contains(name);
            let names = open(folder)?.import(file, contains, replace, random)?;
            println!("imported rooms: {}", names.len());
            wanted.check()?;
        }
        Command::Delete { folder, room, now } => {
            let store = open(folder)?;
            match store.wait(|done| store.delete(room.clone(), done)) {
                Err(store::Error::NoRoom) => return Err(no_room(&room).into()),
                outcome => outcome?,
            }
            if now {
                store.wait(|done| store.erase(done))?;
            }
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

/// Opens a store. A folder that is named by mistake is not made.
fn open(folder: PathBuf) -> Result<Store, Box<dyn Error>> {
    if !folder.is_dir() {
        return Err(store::OpenError::NoStore(folder).into());
    }
    Ok(Store::open(folder, Options::default())?)
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

/// A new incarnation.
fn random() -> u64 {
    groupwire_server::random_number()
}
