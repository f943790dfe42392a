//! Carries a command out: in the server, or in `groupwire store` while no server runs.

use super::protocol::{Reply, Request, RoomLine};
use crate::durable::{Directory, StoreError, Stores, wait};
use crate::tools::secret::random_number;

/// Carries a command out. Calls `changed` with the name of each room whose stored content differs
/// from what an open room has loaded. This blocks, for as long as the disk takes.
pub fn carry_out(stores: &Stores, request: Request, changed: impl Fn(&str)) -> Reply {
    let outcome = match request {
        Request::List => {
            let rooms = stores.directory.rooms().into_iter();
            Ok(Reply::Rooms(rooms.map(RoomLine::from).collect()))
        }
        Request::Delete { room, now } => match delete(&*stores.directory, &room, now, changed) {
            Err(StoreError::NoRoom) => Ok(Reply::Failed(format!(
                "there is no room {room:?}; `groupwire store list` names all rooms of a folder"
            ))),
            outcome => outcome.map(|()| Reply::Deleted),
        },
        Request::Import { file, rooms, replace } => {
            let wanted = |name: &str| rooms.is_empty() || rooms.iter().any(|room| room == name);
            let names = stores.transfer.import(&file, &wanted, replace, &mut random_number);
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

fn delete(
    directory: &dyn Directory,
    room: &str,
    now: bool,
    changed: impl Fn(&str),
) -> Result<(), StoreError> {
    wait(|done| directory.delete(room.to_owned(), done))?;
    // The call comes before the erasure, which may take long.
    changed(room);
    if now {
        wait(|done| directory.erase(done))?;
    }
    Ok(())
}
