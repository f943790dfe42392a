//! Recordings of rooms: all messages that participants publish, in the files that `groupwire
//! replay` reads.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groupwire_session::room::Recorded;
use tokio::sync::watch;
use tokio::time::timeout;

use super::context::InspectContext;
use super::recordings::{Running, State};
use super::refusal::Refusal;
use crate::tools::private_files::{create_private, create_private_folder};

/// How often recorded messages are written to the files.
const INTERVAL: Duration = Duration::from_millis(200);

/// Most recordings at the same time.
const MAX_RECORDINGS: usize = 8;

/// Most bytes of a recording: `groupwire replay` reads up to 256 MB.
const MAX_BYTES: u64 = 240 << 20;

/// Most characters of the room's name in a file's name.
const MAX_NAME: usize = 48;

/// Starts to record a room, unless it is being recorded already.
pub(super) async fn start(context: &Arc<InspectContext>, room: &str) -> Result<State, Refusal> {
    let folder = context.record_dir.as_deref().ok_or(Refusal::NoFolder)?;
    if !context.rooms.names().iter().any(|name| name == room) {
        return Err(Refusal::NoRoom);
    }
    let started = {
        let mut running = context.recordings.lock();
        if let Some(found) = running.get(room)
            && !found.state.borrow().is_over
        {
            return Ok(found.state.borrow().clone());
        }
        running.retain(|_, one| !one.state.borrow().is_over);
        if running.len() >= MAX_RECORDINGS {
            return Err(Refusal::TooMany);
        }
        let files = Files::create(folder, room).map_err(Refusal::Disk)?;
        let first = State { file: files.name.clone(), ..State::default() };
        let (report, state) = watch::channel(first.clone());
        let (stop, stopped) = watch::channel(false);
        running.insert(room.to_owned(), Running { state, stop });
        tokio::spawn(record(Arc::clone(context), room.to_owned(), files, report, stopped));
        first
    };
    context.rooms.with_room(room, |driver, _| driver.room.set_recording(true)).await;
    tracing::info!(room, file = started.file, "recording started");
    Ok(started)
}

/// Stops the recording of a room; `None` if there is none.
pub(super) async fn stop(context: &InspectContext, room: &str) -> Option<State> {
    let mut state = {
        let running = context.recordings.lock();
        let found = running.get(room)?;
        let _ = found.stop.send(true);
        found.state.clone()
    };
    let ended = state.wait_for(|state| state.is_over).await.ok()?;
    Some(ended.clone())
}

/// Writes messages until the recording is stopped, the room is closed, or writing fails.
async fn record(
    context: Arc<InspectContext>,
    room: String,
    mut files: Files,
    report: watch::Sender<State>,
    mut stopped: watch::Receiver<bool>,
) {
    let error = loop {
        let is_last = timeout(INTERVAL, stopped.wait_for(|stopped| *stopped)).await.is_ok();
        let fetched = context
            .rooms
            .with_room(&room, |driver, now| {
                let channels = driver.room.inspect(now).channels;
                let names: Vec<String> = channels.into_iter().map(|channel| channel.name).collect();
                (driver.room.recorded(), names)
            })
            .await;
        let Some(((messages, missed), names)) = fetched else { break None };
        let count = messages.len() as u64;
        let written = tokio::task::spawn_blocking(move || {
            let outcome = files.append(&messages, &names);
            (files, outcome)
        });
        let Ok((back, outcome)) = written.await else {
            break Some("the task that writes it was cancelled".to_owned());
        };
        files = back;
        if let Err(error) = outcome {
            break Some(error.to_string());
        }
        report.send_modify(|state| {
            state.messages += count;
            state.bytes = files.bytes;
            state.missed = missed;
        });
        if is_last {
            break None;
        }
        if files.bytes > MAX_BYTES {
            break Some(format!("the recording reached its limit of {MAX_BYTES} bytes"));
        }
    };
    if let Some(error) = &error {
        tracing::warn!(room, error, "recording failed");
    }
    context.rooms.with_room(&room, |driver, _| driver.room.set_recording(false)).await;
    report.send_modify(|state| {
        state.is_over = true;
        state.error = error;
    });
}

/// The files of a recording: the messages (`.bin`), and a table of their times, senders and
/// channels (`.tsv`).
struct Files {
    name: String,
    records: File,
    table: File,
    bytes: u64,
    table_bytes: u64,
}

const COLUMNS: &[u8] = b"time_ms\tsender\tchannel\n";

impl Files {
    /// Creates new files, named after the room and the time; never overwrites a file.
    fn create(folder: &Path, room: &str) -> io::Result<Self> {
        create_private_folder(folder)?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let room: String = room.chars().take(MAX_NAME).map(plain).collect();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let new = |name: &str| create_private(folder.join(name));
        for number in 0..100 {
            let name = match number {
                0 => format!("{room}-{time}"),
                number => format!("{room}-{time}-{number}"),
            };
            let records = match new(&format!("{name}.bin")) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                records => records?,
            };
            let mut table = new(&format!("{name}.tsv"))?;
            table.write_all(COLUMNS)?;
            let (name, table_bytes) = (format!("{name}.bin"), COLUMNS.len() as u64);
            return Ok(Files { name, records, table, bytes: 0, table_bytes });
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Appends all messages or, if that fails, none, so that the files stay readable.
    fn append(&mut self, messages: &[Recorded], channels: &[String]) -> io::Result<()> {
        let (mut records, mut rows) = (Vec::new(), Vec::new());
        for message in messages {
            records.extend_from_slice(&(message.bytes.len() as u32).to_le_bytes());
            records.extend_from_slice(&message.bytes);
            let channel = channels.get((message.channel.get() as usize).wrapping_sub(1));
            let channel =
                channel.map_or_else(String::new, |name| name.replace(char::is_control, " "));
            let ms = message.at.as_micros() as f64 / 1000.0;
            writeln!(rows, "{ms}\t{}\t{channel}", message.sender)?;
        }
        let written = self.records.write_all(&records).and_then(|()| self.table.write_all(&rows));
        match written {
            Ok(()) => {
                self.bytes += records.len() as u64;
                self.table_bytes += rows.len() as u64;
            }
            Err(_) => {
                let _ = self.records.set_len(self.bytes);
                let _ = self.table.set_len(self.table_bytes);
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupwire_session::{ChannelNo, ParticipantId};

    fn folder(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("groupwire-{name}-{}", std::process::id()))
    }

    fn message(bytes: &[u8]) -> Recorded {
        Recorded {
            at: Duration::from_micros(12_500),
            sender: ParticipantId(3),
            channel: ChannelNo(1),
            bytes: bytes.into(),
        }
    }

    #[test]
    fn no_room_name_escapes_the_folder_or_overwrites_a_file() {
        let folder = folder("names");
        for room in
            ["../../etc/passwd", "/etc/passwd", "a\0b", "..", &"ä".repeat(200), "demo", "demo"]
        {
            let files = Files::create(&folder, room).unwrap();
            assert!(!files.name.contains(['/', '\\', '\0']) && !files.name.starts_with('.'));
            assert!(folder.join(&files.name).is_file(), "{}", files.name);
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 14);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn messages_are_written_completely_or_not_at_all() {
        let folder = folder("full");
        let mut files = Files::create(&folder, "demo").unwrap();
        let channels = ["draw\ting".to_owned()];
        files.append(&[message(b"one"), message(b"")], &channels).unwrap();
        // Writing to the table fails, as on a full disk.
        let name = folder.join(files.name.replace(".bin", ".tsv"));
        let table = std::mem::replace(&mut files.table, File::open(&name).unwrap());
        assert!(files.append(&[message(b"two")], &channels).is_err());
        drop(table);
        let records = std::fs::read(folder.join(&files.name)).unwrap();
        assert_eq!(records, b"\x03\0\0\0one\0\0\0\0");
        let rows = std::fs::read_to_string(&name).unwrap();
        assert_eq!(rows, "time_ms\tsender\tchannel\n12.5\t3\tdraw ing\n12.5\t3\tdraw ing\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
