//! Rows of the tables as Rust types. Each row has a checksum over all its fields except its own id,
//! because SQLite does not check what it reads. The checksum is that of crc32fast, CRC-32 of IEEE
//! 802.3.

use crc32fast::Hasher;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ffi, params};

use crate::api::{OVERHEAD, Part, Record};

/// A part has at most this many pieces; a piece's id is the part's id times this number plus the
/// number of the piece.
pub(crate) const PIECES: i64 = 128;
/// The bytes of a piece: one commit writes one, so that a large snapshot delays no append for long.
pub(crate) const PIECE: usize = 1 << 20;

pub(crate) type Result<T> = rusqlite::Result<T>;

/// A row of `rooms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoomRow {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) incarnation: u64,
    pub(crate) reserved: u32,
    /// A lower bound of the room's head, for rooms whose records were all trimmed.
    pub(crate) head: u64,
    /// Seconds since 1970, when this row was written.
    pub(crate) active: u32,
    pub(crate) meta: Vec<u8>,
}

impl RoomRow {
    fn crc(&self) -> u32 {
        let mut crc = Hasher::new();
        crc.update(&self.id.to_le_bytes());
        crc.update(&(self.name.len() as u64).to_le_bytes());
        crc.update(self.name.as_bytes());
        crc.update(&self.incarnation.to_le_bytes());
        crc.update(&self.reserved.to_le_bytes());
        crc.update(&self.head.to_le_bytes());
        crc.update(&self.active.to_le_bytes());
        crc.update(&self.meta);
        crc.finalize()
    }

    /// Writes the row, whether or not there is one of this id.
    pub(crate) fn put(&self, db: &Connection) -> Result<()> {
        db.prepare_cached("INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                self.id,
                self.name,
                self.incarnation.cast_signed(),
                self.reserved,
                self.head.cast_signed(),
                self.active,
                self.meta,
                self.crc()
            ])?;
        Ok(())
    }

    /// Reads the row of a room, and whether its checksum holds. A field that cannot be read counts
    /// as empty.
    pub(crate) fn find(db: &Connection, id: u32) -> Result<Option<(Self, bool)>> {
        let mut statement = db.prepare_cached("SELECT * FROM rooms WHERE id = ?")?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(Self::read).transpose()
    }

    /// Reads a row of a query for all columns.
    pub(crate) fn read(row: &Row<'_>) -> Result<(Self, bool)> {
        let found = Self {
            id: integer(row, 0)? as u32,
            name: String::from_utf8_lossy(bytes(row, 1)?).into_owned(),
            incarnation: integer(row, 2)?.cast_unsigned(),
            reserved: integer(row, 3)? as u32,
            head: integer(row, 4)?.cast_unsigned(),
            active: integer(row, 5)? as u32,
            meta: bytes(row, 6)?.to_vec(),
        };
        let intact = integer(row, 7)? == i64::from(found.crc());
        Ok((found, intact))
    }
}

/// Deletes the row of a room, whose records and parts become garbage.
pub(crate) fn delete_room(db: &Connection, id: u32) -> Result<()> {
    db.prepare_cached("DELETE FROM rooms WHERE id = ?")?.execute([id])?;
    Ok(())
}

/// A row of `log` without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogHeader {
    pub(crate) room: u32,
    pub(crate) position: u64,
    pub(crate) channel: u32,
    pub(crate) author: u32,
    pub(crate) recipient: u32,
    pub(crate) counter: u32,
    /// Seconds since 1970, when the record was stored.
    pub(crate) time: u32,
}

/// A row of `log`, whose content is borrowed from SQLite.
pub(crate) struct LogRow<'a> {
    pub(crate) id: i64,
    pub(crate) header: LogHeader,
    pub(crate) bytes: &'a [u8],
    crc: i64,
}

impl LogHeader {
    pub(crate) fn of(room: u32, time: u32, record: &Record) -> Self {
        let Record { position, channel, author, recipient, counter, .. } = *record;
        Self { room, position, channel, author, recipient, counter, time }
    }

    /// The checksum of a row. The content comes first, so that another header can be tried without
    /// reading it again.
    fn crc(&self, mut content: Hasher) -> u32 {
        let numbers =
            [self.room, self.channel, self.author, self.recipient, self.counter, self.time];
        let mut header = [0; 32];
        header[..8].copy_from_slice(&self.position.to_le_bytes());
        for (place, number) in header[8..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        content.update(&header);
        content.finalize()
    }

    /// Inserts a row of the log.
    pub(crate) fn insert(&self, db: &Connection, id: i64, bytes: &[u8]) -> Result<()> {
        db.prepare_cached("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?.execute(
            params![
                id,
                self.room,
                self.position.cast_signed(),
                self.channel,
                self.author,
                self.recipient,
                self.counter,
                self.time,
                bytes,
                self.crc(hash(bytes))
            ],
        )?;
        Ok(())
    }
}

impl<'a> LogRow<'a> {
    /// Reads a row of a query for all columns.
    pub(crate) fn read(row: &'a Row<'_>) -> Result<Self> {
        let header = LogHeader {
            room: integer(row, 1)? as u32,
            position: integer(row, 2)?.cast_unsigned(),
            channel: integer(row, 3)? as u32,
            author: integer(row, 4)? as u32,
            recipient: integer(row, 5)? as u32,
            counter: integer(row, 6)? as u32,
            time: integer(row, 7)? as u32,
        };
        Ok(Self { id: integer(row, 0)?, header, bytes: bytes(row, 8)?, crc: integer(row, 9)? })
    }

    /// True if the checksum holds.
    pub(crate) fn is_intact(&self) -> bool {
        i64::from(self.header.crc(hash(self.bytes))) == self.crc
    }

    /// The numbers in `rooms` with which the checksum of a damaged row holds. If only the row's
    /// number of the room is damaged, the row belonged to one of these rooms.
    pub(crate) fn rooms_that_fit(&self, rooms: impl Iterator<Item = u32>) -> Vec<u32> {
        let content = hash(self.bytes);
        rooms
            .filter(|&room| {
                let header = LogHeader { room, ..self.header };
                i64::from(header.crc(content.clone())) == self.crc
            })
            .collect()
    }

    pub(crate) fn to_record(&self) -> Record {
        let LogHeader { position, channel, author, recipient, counter, .. } = self.header;
        Record { position, channel, author, recipient, counter, bytes: self.bytes.to_vec() }
    }
}

/// Reads the row of this id if it is intact and matches the index.
pub(crate) fn find_record<T>(
    db: &Connection,
    id: i64,
    room: u32,
    position: u64,
    read: impl FnOnce(&LogRow<'_>) -> T,
) -> Result<Option<T>> {
    let mut statement = db.prepare_cached("SELECT * FROM log WHERE id = ?")?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let row = LogRow::read(row)?;
    let ours = row.header.room == room && row.header.position == position && row.is_intact();
    Ok(ours.then(|| read(&row)))
}

/// A row of `parts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartRow {
    pub(crate) id: i64,
    pub(crate) room: u32,
    pub(crate) name: Box<str>,
    pub(crate) channels: Box<[u32]>,
    pub(crate) as_of: u64,
    /// Milliseconds since 1970, when the part was stored.
    pub(crate) taken: u64,
    /// The bytes of all pieces.
    pub(crate) size: u64,
}

impl PartRow {
    fn crc(&self) -> u32 {
        let mut crc = hash(self.name.as_bytes());
        crc.update(&encode_channels(&self.channels));
        crc.update(&self.room.to_le_bytes());
        for number in [self.id.cast_unsigned(), self.as_of, self.taken, self.size] {
            crc.update(&number.to_le_bytes());
        }
        crc.finalize()
    }

    /// The bytes that the part counts for in quotas.
    pub(crate) fn cost(&self) -> u64 {
        self.size + OVERHEAD
    }

    pub(crate) fn covers(&self, channel: u32, position: u64) -> bool {
        position <= self.as_of && self.channels.contains(&channel)
    }

    pub(crate) fn insert(&self, db: &Connection) -> Result<()> {
        db.prepare_cached("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?.execute(
            params![
                self.id,
                self.room,
                self.name,
                encode_channels(&self.channels),
                self.as_of.cast_signed(),
                self.taken.cast_signed(),
                self.size.cast_signed(),
                self.crc()
            ],
        )?;
        Ok(())
    }

    /// Reads a row of a query for all columns, and whether its checksum holds.
    pub(crate) fn read(row: &Row<'_>) -> Result<(Self, bool)> {
        let channels =
            bytes(row, 3)?.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        let found = Self {
            id: integer(row, 0)?,
            room: integer(row, 1)? as u32,
            name: String::from_utf8_lossy(bytes(row, 2)?).into(),
            channels: channels.collect(),
            as_of: integer(row, 4)?.cast_unsigned(),
            taken: integer(row, 5)?.cast_unsigned(),
            size: integer(row, 6)?.cast_unsigned(),
        };
        let intact = integer(row, 7)? == i64::from(found.crc());
        Ok((found, intact))
    }

    pub(crate) fn to_part(&self, bytes: Vec<u8>) -> Part {
        let (name, channels) = (self.name.to_string(), self.channels.to_vec());
        Part { name, channels, as_of: self.as_of, bytes }
    }

    /// The content, if all pieces are there and intact.
    pub(crate) fn content(&self, db: &Connection) -> Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let mut statement =
            db.prepare_cached("SELECT * FROM pieces WHERE id >= ? AND id < ? ORDER BY id")?;
        let mut rows = statement.query([self.id * PIECES, (self.id + 1) * PIECES])?;
        let mut next = self.id * PIECES;
        while let Some(row) = rows.next()? {
            let piece = bytes(row, 1)?;
            if integer(row, 0)? != next || integer(row, 2)? != i64::from(piece_crc(next, piece)) {
                return Ok(None);
            }
            content.extend_from_slice(piece);
            next += 1;
        }
        Ok((content.len() as u64 == self.size).then_some(content))
    }
}

/// Cuts the content of a part into pieces.
pub(crate) fn pieces(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.chunks(PIECE)
}

/// Writes a piece of a part.
pub(crate) fn insert_piece(db: &Connection, id: i64, bytes: &[u8]) -> Result<()> {
    let crc = piece_crc(id, bytes);
    db.prepare_cached("INSERT INTO pieces VALUES (?, ?, ?)")?.execute(params![id, bytes, crc])?;
    Ok(())
}

/// Writes a part with all its pieces.
pub(crate) fn insert_part(db: &Connection, row: &PartRow, content: &[u8]) -> Result<()> {
    for (piece, id) in pieces(content).zip(row.id * PIECES..) {
        insert_piece(db, id, piece)?;
    }
    row.insert(db)
}

fn piece_crc(id: i64, bytes: &[u8]) -> u32 {
    let mut crc = hash(bytes);
    crc.update(&id.to_le_bytes());
    crc.finalize()
}

fn encode_channels(channels: &[u32]) -> Vec<u8> {
    channels.iter().flat_map(|channel| channel.to_le_bytes()).collect()
}

pub(crate) fn hash(bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher
}

/// An error as SQLite has it for a damaged database.
pub(crate) fn corrupt(what: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(what.to_owned()))
}

// A damaged row may have values of other types in its columns; the checksum then fails.
pub(crate) fn integer(row: &Row<'_>, column: usize) -> Result<i64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(value) => value,
        _ => -1,
    })
}

pub(crate) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8]> {
    Ok(match row.get_ref(column)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes,
        _ => &[],
    })
}
