//! The requests and replies on the socket, and reading them from lines of bounded length.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::durable::RoomInfo;
use crate::lifecycle::sockets::SocketLine;

/// The socket's name in the folder.
pub(crate) const SOCKET: &str = "admin.sock";

/// Bytes of a request, at most: it names files and rooms.
pub(crate) const MAX_REQUEST: u64 = 1 << 20;

/// Bytes of a reply, at most: a list of 100,000 rooms with the longest names has 40 MB.
pub(crate) const MAX_REPLY: u64 = 64 << 20;

/// A command for the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// List the rooms.
    List,
    /// Delete a room. Its participants come back to an empty one.
    Delete {
        /// The name of the room.
        room: String,
        /// Answer once no byte of it is on the disk.
        now: bool,
    },
    /// Take rooms from the file of an export. Participants of rooms of these names come back to
    /// what was imported.
    Import {
        /// The absolute path of the file.
        file: PathBuf,
        /// The names of the rooms; all if there are none.
        rooms: Vec<String>,
        /// Replace rooms that exist.
        replace: bool,
    },
    /// Hand the listening sockets over to this process. The reply is preceded by one byte that
    /// carries their descriptors.
    Upgrade,
    /// After [`Request::Upgrade`], over the same connection: let this process take the server's
    /// place.
    TakeOver,
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// All rooms, by name.
    Rooms(Vec<RoomLine>),
    /// The room is deleted.
    Deleted,
    /// The names of the rooms that were imported.
    Imported(Vec<String>),
    /// The purposes and addresses of the sockets that were handed over.
    Sockets(Vec<SocketLine>),
    /// The server says goodbye to its clients, and ends.
    TakenOver,
    /// The command was not carried out; the text says why, and what to do.
    Failed(String),
}

/// One room in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomLine {
    /// The room's name.
    pub name: String,
    /// The number of stored transactions.
    pub records: u64,
    /// The bytes that count towards the quota.
    pub bytes: u64,
}

impl From<RoomInfo> for RoomLine {
    fn from(RoomInfo { name, records, bytes, .. }: RoomInfo) -> Self {
        RoomLine { name, records, bytes }
    }
}

/// Writes a value as a line.
pub(crate) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Reads a value from a line of `limit` bytes at most.
///
/// # Errors
/// The line is longer, does not end, or is no such value.
pub(crate) fn read_line<T: DeserializeOwned>(stream: impl Read, limit: u64) -> io::Result<T> {
    let mut line = Vec::new();
    BufReader::new(stream.take(limit)).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        let reason = match line.len() as u64 == limit {
            true => format!("the line has more than {limit} bytes"),
            false => "the other end closed the connection".to_owned(),
        };
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    }
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let file = PathBuf::from("/tmp/a \"file\"\nof two lines");
        let rooms = vec!["ä\n".to_owned()];
        let request = Request::Import { file, rooms, replace: true };
        let mut line = Vec::new();
        write_line(&mut line, &request).unwrap();
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        assert_eq!(read_line::<Request>(&line[..], MAX_REQUEST).unwrap(), request);
    }

    #[test]
    fn what_is_too_long_cut_off_or_unknown_is_refused() {
        let refused = |line: &[u8], limit| {
            read_line::<Request>(line, limit).expect_err("it is no request").to_string()
        };
        assert!(refused(b"\"list\"\n", 6).contains("more than 6 bytes"));
        assert!(read_line::<Request>(&b"\"list\"\n"[..], 7).is_ok());
        assert!(refused(b"\"list\"", 100).contains("closed"));
        assert!(refused(b"", 100).contains("closed"));
        assert!(refused(b"\"format\"\n", 100).contains("unknown variant"));
        refused(b"\xff\n", 100);
    }
}
