//! Carries a command out: in the server, or in `groupwire store` while no server runs.

use groupwire_store::{Error, RoomLog, Store};

use super::protocol::{Reply, Request, RoomLine};
use crate::tools::secret::random_number;

/// Carries a command out. Calls `changed` with the name of each room whose stored content differs from what an open room has
/// loaded. This blocks, for as long as the disk takes.
pub fn carry_out(store: &Store, request: Request, changed: impl Fn(&str)) -> Reply {
    let outcome = match request {
        Request::List => Ok(Reply::Rooms(store.rooms().into_iter().map(RoomLine::from).collect())),
        Request::Delete { room, now } => match delete(store, &room, now, changed) {
            Err(Error::NoRoom) => Ok(Reply::Failed(format!(
                "there is no room {room:?}; `groupwire store list` names all rooms of a folder"
            ))),
            outcome => outcome.map(|()| Reply::Deleted),
        },
        Request::Import { file, rooms, replace } => {
            let wanted = |name: &str| rooms.is_empty() || rooms.iter().any(|room| room == name);
            let names = store.import(file, wanted, replace, random_number);
            names.map(|names| {
                names.iter().for_each(|name| changed(name));
                Reply::Imported(names)
            })
        }
        Request::Upgrade | Request::TakeOver => {
            Ok(Reply::Failed("only a running server is asked to hand its place over".to_owned()))
        }
    };
    outcome.unwrap_or_else(|error| Reply::Failed(error.to_string()))
}

fn delete(store: &Store, room: &str, now: bool, changed: impl Fn(&str)) -> Result<(), Error> {
    store.wait(|done| store.delete(room.to_owned(), done))?;
    // The call comes before the erasure, which may take long.
    changed(room);
    if now {
        store.wait(|done| store.erase(done))?;
    }
    Ok(())
}
