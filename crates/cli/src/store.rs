//! `groupwire store`: looks into, copies and mends the folder of stored rooms.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as ClapArgs, Subcommand};
use groupwire_server::admin::{self, Reply, Request};
use groupwire_server::store::{self, Keys, OpenError, Options, Store, Summary};

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
    /// List the rooms. Works while a server runs.
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
    /// Take rooms from the file of an export. Their clients are told of a gap. Works while a server runs.
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
    /// Delete a room. Works while a server runs: who is in the room comes back to an empty one, and apps that still have the
    /// content may send it again.
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
        Command::List { folder } => carry_out(&folder, Request::List)?,
        Command::Export { folder, file, rooms } => {
            print(&store::export(folder, file, wanted(&rooms))?);
        }
        Command::Import { folder, file, rooms, replace } => {
            // A server has another working directory.
            let file = std::path::absolute(file)?;
            carry_out(&folder, Request::Import { file, rooms, replace })?;
        }
        Command::Delete { folder, room, now } => carry_out(&folder, Request::Delete { room, now })?,
        Command::Repair { folder } => print(&store::repair(folder, random)?),
        Command::RotateKey { folder } => _ = Keys::rotate(folder, now_ms())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Carries a command out, or has the server do it that uses the folder. Prints what became of it.
fn carry_out(folder: &Path, request: Request) -> Result<(), Box<dyn Error>> {
    // A folder that is named by mistake is not made.
    if !folder.is_dir() {
        return Err(format!("{} is not a folder of stored rooms", folder.display()).into());
    }
    let reply = match Store::open(folder, Options::default()) {
        Ok(store) => admin::carry_out(&store, request, |_| {}),
        Err(in_use @ OpenError::InUse { .. }) => admin::ask(folder, &request)
            .map_err(|error| format!("{in_use}\nThat process could not be asked: {error}"))?,
        Err(error) => return Err(error.into()),
    };
    match reply {
        Reply::Rooms(rooms) => {
            println!("{:>10} {:>12}  room", "records", "bytes");
            for room in rooms {
                println!("{:>10} {:>12}  {}", room.records, room.bytes, room.name.escape_debug());
            }
        }
        Reply::Deleted => {}
        Reply::Imported(names) => println!("imported rooms: {}", names.len()),
        Reply::Failed(reason) => return Err(reason.into()),
    }
    Ok(())
}

fn wanted(rooms: &[String]) -> impl Fn(&str) -> bool + '_ {
    |name| rooms.is_empty() || rooms.iter().any(|room| room == name)
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
