//! The numbers and structures of the C interface.

use groupwire_ffi as ffi;

/// A room. 0 is no room. A number is never used again in a process.
pub type gw_room = u64;

/// The `channel` of an event that is about no channel.
pub const GW_NO_CHANNEL: u32 = u32::MAX;

/// The message was sent as text; its bytes are UTF-8.
pub const GW_TEXT: u32 = 1;
/// An own transaction, which now has its place in the room's order.
pub const GW_OWN: u32 = 2;
/// Awareness that a later transaction of its sender has overtaken.
pub const GW_STALE: u32 = 4;
/// Late-joiner state: the message describes the room as it was when this participant joined.
pub const GW_STATE: u32 = 8;
/// Of GW_EVENT_TYPE_JOINED: the session goes on where it stopped.
pub const GW_RESUMED: u32 = 16;
/// Of GW_EVENT_TYPE_FAILED: the room is closed, because trying again cannot help.
pub const GW_FATAL: u32 = 32;
/// Of GW_EVENT_TYPE_OPENED: the channel was open before, and its QoS changed.
pub const GW_CHANGED: u32 = 64;
/// Of GW_EVENT_TYPE_COUNT: all participants are announced.
pub const GW_EVERYBODY: u32 = 128;
/// Of GW_EVENT_TYPE_PAGE: no other participants follow.
pub const GW_LAST: u32 = 256;

/// The result of a call. gw_code_word gives the word of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum gw_code {
    /// No error.
    Ok = 0,
    /// The client and the server have no protocol version in common.
    Version = 1,
    /// Bytes break a rule of the wire format.
    Malformed = 2,
    /// A frame has a type that its receiver does not know.
    Unsupported = 3,
    /// A value has more bytes than its limit allows, for example a message or a name.
    TooLarge = 4,
    /// There are more items than a limit allows, for example too many channels.
    TooMany = 5,
    /// Bytes that must be text are not UTF-8.
    InvalidText = 6,
    /// The channel was not opened.
    UnknownChannel = 7,
    /// The participant has no right to do this.
    NotAllowed = 8,
    /// The server refused.
    Refused = 9,
    /// The values of a QoS contradict each other.
    InvalidQos = 10,
    /// Compressed bytes do not decode.
    Compression = 11,
    /// The other end has sent nothing for too long.
    Silent = 12,
    /// The other end does not read the packets that it is sent.
    Stalled = 13,
    /// Another connection has taken over the session.
    Replaced = 14,
    /// There is no such compression.
    InvalidCompress = 15,
    /// The server did not make a requested change of a QoS.
    NotChanged = 16,
    /// The room cannot do this at present.
    NotNow = 17,
    /// The server refused a part of the snapshot.
    PartRefused = 18,
    /// The token has expired.
    Expired = 19,
    /// The token was revoked.
    Revoked = 20,
    /// The user is banned.
    Banned = 21,
    /// The participant sends far more than its quota.
    OverQuota = 22,
    /// An argument is wrong; gw_error_text names it.
    InvalidArgument = 100,
    /// The server cannot be reached; the client keeps trying.
    Unreachable = 101,
    /// The room was freed or left, or has ended.
    Closed = 102,
    /// The room belongs to the process that forked this one.
    Forked = 103,
    /// Another thread polls the room, or a batch of shared data is open.
    Busy = 104,
    /// This library has failed.
    Internal = 105,
    /// A name of shared data does not have 1 to 64 characters, or has a slash.
    BadName = 106,
    /// A key of shared data has more than 128 characters, or an unpaired surrogate.
    BadKey = 107,
    /// A text is not JSON, or a value has a number that is not finite or an unpaired surrogate,
    /// which JSON cannot carry.
    NotJson = 108,
    /// An argument of a change of shared data is wrong: a value is nested too deeply, fields are
    /// not an object, or a difference is not a whole number between -2^53 and 2^53.
    BadArgument = 109,
    /// A change of shared data cannot be sent, for example because this participant may not
    /// publish.
    NotSent = 110,
    /// The other end reported an error that this version does not know.
    Unknown = 199,
}

/// The type of an event, which says which members of gw_event have a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum gw_event_type {
    /// There is no event at present.
    None = 0,
    /// The connection has another `status`.
    Status = 1,
    /// This participant, `participant`, is in the room. Flag: GW_RESUMED.
    Joined = 2,
    /// The server opened `channel`, or changed its QoS: `qos`. Flag: GW_CHANGED.
    Opened = 3,
    /// `channel` is closed, as gw_close_channel wanted.
    Closed = 4,
    /// The contract of `channel` is in the state `contract`, in words `text`.
    Contract = 5,
    /// A message of `participant` on `channel`: `bytes`, `key`, `position`, `number`, `age_us`,
    /// `departed`. Flags: GW_TEXT, GW_OWN, GW_STALE, GW_STATE.
    Message = 6,
    /// A message to one participant, `to`. Otherwise as GW_EVENT_TYPE_MESSAGE.
    Direct = 7,
    /// The `outcome` of the own message `tag` to `participant` on `channel`.
    Receipt = 8,
    /// `change` happened to `participant`, which is `presence`; `bytes` is what it published,
    /// `text` its user or null.
    Participant = 9,
    /// A large room has `count` participants. Flag: GW_EVERYBODY.
    Count = 10,
    /// One participant of the answer to gw_want_page, as in GW_EVENT_TYPE_PARTICIPANT.
    PageEntry = 11,
    /// The end of the answer to gw_want_page with `participant` as its argument. Flag: GW_LAST.
    Page = 12,
    /// The late-joiner state of `channel` is complete, or of all with GW_NO_CHANNEL.
    Synced = 13,
    /// The room wants the part `text` of its snapshot up to `position`: gw_snapshot answers.
    SnapshotWanted = 14,
    /// The part `text` of the snapshot up to `position` is `bytes`.
    Snapshot = 15,
    /// Something is lost: `reason`, `count` own transactions are uncertain, `channel`, `position`.
    Gap = 16,
    /// After GW_SENT_NOT_NOW: messages are accepted again.
    Drain = 17,
    /// `count` own transactions wait for their confirmation: the first ones, or 0.
    Pending = 18,
    /// Another token is needed: gw_set_token gives it.
    TokenWanted = 19,
    /// An error, `code` and `text`, of the room or of `channel`. Flag: GW_FATAL.
    Failed = 20,
    /// The data of the kind `kind` with the name `text` may have changed in the shared data `data`,
    /// also by this participant. Of a map or list, `bytes` has the keys or ids that may have
    /// changed, as a JSON array. If `text` is null, only the state may have changed
    /// (gw_get_shared_state).
    SharedChanged = 21,
    /// This program does not have all of the shared data `data`, because of `loss`.
    SharedLost = 22,
}

/// The state of a room's connection.
#[repr(u32)]
pub enum gw_status {
    /// It connects for the first time.
    Connecting = 0,
    /// The room took this participant in.
    Connected = 1,
    /// The connection broke, and the client connects again.
    Reconnecting = 2,
    /// The room is closed for good.
    Closed = 3,
}

/// The state of a participant's connection.
#[repr(u32)]
pub enum gw_presence {
    /// It left, or did not come back in time.
    Left = 0,
    /// The participant is connected.
    Here = 1,
    /// Its connection broke; it may still come back.
    Away = 2,
}

/// What happened to a participant.
#[repr(u32)]
pub enum gw_change {
    /// The participant came.
    Came = 0,
    /// Its presence, user or connection changed.
    Changed = 1,
    /// The participant left.
    Left = 2,
}

/// The reason of a gap.
#[repr(u32)]
pub enum gw_gap {
    /// The room lost its state; a program that still has it should send it again.
    Incarnation = 0,
    /// The room no longer knows this participant, which has a new number now.
    Session = 1,
    /// Transactions are missing that the room no longer has.
    History = 2,
    /// An administrator reset a channel: the program forgets all that it has of it.
    Reset = 3,
}

/// The outcome of a message to one participant.
#[repr(u32)]
pub enum gw_outcome {
    /// The receiver's program has it.
    Delivered = 0,
    /// The receiver is not in the room, or left before it confirmed the message.
    Gone = 1,
    /// The receiver has not opened the channel, or may not receive on it.
    NotOpen = 2,
    /// Too many messages wait for the receiver.
    Full = 3,
    /// Not known: the session or the room's state was lost.
    Unknown = 4,
}

/// What happened to a message that was given to gw_send.
#[repr(u32)]
pub enum gw_sent {
    /// The message is on its way, or waits to be sent.
    Accepted = 0,
    /// It waits, and replaced an older value of its key.
    Conflated = 1,
    /// The message was not taken, because too many wait: try again after GW_EVENT_TYPE_DRAIN.
    NotNow = 2,
}

/// The kind of a channel.
#[repr(u32)]
pub enum gw_kind {
    /// Every message reaches everybody, once and in one order.
    Transaction = 0,
    /// Some messages may be lost, and newer ones replace older ones.
    Awareness = 1,
}

/// What happens above the highest rate of a channel.
#[repr(u32)]
pub enum gw_overflow {
    /// Conflate for awareness, aggregate for transactions.
    Usual = 0,
    /// Only the newest value of each key is sent.
    Conflate = 1,
    /// All values are sent, in fewer packets.
    Aggregate = 2,
}

/// The memory of each of the up to four models that compress the messages of a connection.
#[repr(u32)]
pub enum gw_memory {
    /// 64 KiB.
    Full = 0,
    /// 16 KiB, with which messages take more bytes.
    Small = 1,
}

/// Whether a channel's contract is kept.
#[repr(u32)]
pub enum gw_contract_state {
    /// It is kept, or there were too few messages to tell.
    Met = 0,
    /// The contract was broken in the last ten seconds.
    Missed = 1,
    /// It cannot be kept on the present path.
    CannotMeet = 2,
}

/// What a confirmed transaction survives.
#[repr(u32)]
pub enum gw_durability {
    /// Nothing: the room ends with its server.
    Memory = 0,
    /// The end of the server and its machine, but not of its disk.
    Local = 1,
    /// The loss of a server's disk, too.
    Cluster = 2,
    /// This participant has not joined yet.
    Unknown = 3,
}

/// A kind of shared data. The names of two kinds do not conflict.
#[repr(u32)]
pub enum gw_shared_kind {
    /// A map or a list.
    Cells = 0,
    /// A counter.
    Counter = 1,
    /// A value with a reducer, which only programs in Rust and TypeScript can read.
    Reducer = 2,
    /// A lock.
    Lock = 3,
    /// Turns.
    Turns = 4,
}

/// Why a program does not have all of the shared data.
#[repr(u32)]
pub enum gw_shared_loss {
    /// Operations are missing that the room no longer has: join the room anew.
    History = 0,
    /// The server has lost the room, and this program came back too late to restore its state.
    Restart = 1,
    /// A snapshot is malformed.
    Snapshot = 2,
}

/// How to open shared data. Zeros are the defaults.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_shared_options {
    /// The name of its channel. Null: "shared".
    pub name: *const std::ffi::c_char,
    /// The id of this program among the authors of operations, of at most 128 characters: no other
    /// program in the room may ever have had it. Null: a random one.
    pub author: *const std::ffi::c_char,
    /// Not 0: no previews, which have a channel of their own.
    pub no_previews: u8,
}

/// The state of shared data, beside its values.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_shared_state {
    /// How many own operations the room has not ordered. They are applied already.
    pub pending: u64,
    /// 0 if something is missing (GW_EVENT_TYPE_SHARED_LOST).
    pub complete: u8,
    /// Not 0 after the server has lost the room, until the room has all of the state again.
    pub restoring: u8,
    /// Not 0 if there is an own operation for gw_undo.
    pub can_undo: u8,
    /// Not 0 if there is an own operation for gw_redo.
    pub can_redo: u8,
}

/// How to join a room. Zeros are the defaults of all members but `room`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_options {
    /// The name of the room, 1 to 256 bytes.
    pub room: *const std::ffi::c_char,
    /// A token by which the server decides who may join, or null.
    pub token: *const u8,
    /// The bytes of `token`, at most 4,096.
    pub token_len: usize,
    /// The presence of this participant, which all others see, or null.
    pub presence: *const u8,
    /// The bytes of `presence`, at most 4,096.
    pub presence_len: usize,
    /// How the server is authenticated over https:// and wss://: "auto", "roots", "roots:FILE",
    /// "ask", or SHA-256 hashes of 64 hexadecimal digits, separated by commas. Null: "auto".
    pub trust: *const std::ffi::c_char,
    /// A gw_memory.
    pub memory: u32,
}

/// What the messages of a channel need (docs/qos.md). Begin with gw_qos_transaction,
/// gw_qos_awareness or gw_qos_voice.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct gw_qos {
    /// A gw_kind.
    pub kind: u32,
    /// A gw_overflow.
    pub overflow: u32,
    /// Awareness only: the share of messages that may be lost or late, 0 to 1.
    pub loss: f64,
    /// The lowest useful rate in messages per second; 0 for none.
    pub min_rate: f64,
    /// The highest useful rate in messages per second; 0 for no bound.
    pub max_rate: f64,
    /// Milliseconds after which a message is of no use; 0 for never.
    pub deadline_ms: u64,
    /// 0 (least) to 255.
    pub priority: u8,
    /// Not 0: a compression context of its own, for contents whose length is a secret.
    pub is_private: u8,
    /// Not 0: the order of a channel of transactions records who left.
    pub departures: u8,
    /// On awareness with GW_OVERFLOW_AGGREGATE: the number of senders, at most 15, whose frames of
    /// sound the room passes on at a time; 0 for messages of another kind.
    pub speakers: u8,
}

/// This participant's own settings of a channel. Zeros are the defaults.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_channel_options {
    /// Not 0: this participant only receives.
    pub receive_only: u8,
    /// Not 0: this participant only sends.
    pub send_only: u8,
    /// "template", "off", "auto", or a codec such as "zstd-3" (docs/codecs.md). Null: "template".
    pub compress: *const std::ffi::c_char,
}

/// Options of one message. Zeros are the defaults.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct gw_send_options {
    /// On a conflated channel, the key whose older values of this participant it replaces, or null.
    pub key: *const u8,
    /// The bytes of `key`.
    pub key_len: usize,
    /// Not 0: the message is text, in UTF-8.
    pub text: u8,
    /// Not 0: `priority` is used instead of the channel's.
    pub has_priority: u8,
    /// 0 (least) to 255.
    pub priority: u8,
    /// The only receiver; 0 for all. Only transactions can have one.
    pub to: u32,
    /// A number of the program's own, by which it knows the message in GW_EVENT_TYPE_RECEIPT.
    pub tag: u32,
}

impl From<ffi::Qos> for gw_qos {
    fn from(qos: ffi::Qos) -> gw_qos {
        gw_qos {
            kind: qos.kind as u32,
            overflow: qos.overflow as u32,
            loss: qos.loss,
            min_rate: qos.min_rate,
            max_rate: qos.max_rate,
            deadline_ms: qos.deadline_ms,
            priority: qos.priority,
            is_private: u8::from(qos.private),
            departures: u8::from(qos.departures),
            speakers: qos.speakers,
        }
    }
}

impl gw_qos {
    pub(crate) fn read(&self) -> Result<ffi::Qos, ffi::Error> {
        Ok(ffi::Qos {
            kind: match self.kind {
                0 => ffi::Kind::Transaction,
                1 => ffi::Kind::Awareness,
                other => {
                    return Err(ffi::Error::argument("`kind`", format!("a gw_kind, not {other}")));
                }
            },
            overflow: match self.overflow {
                0 => ffi::Overflow::Usual,
                1 => ffi::Overflow::Conflate,
                2 => ffi::Overflow::Aggregate,
                other => {
                    let expected = format!("a gw_overflow, not {other}");
                    return Err(ffi::Error::argument("`overflow`", expected));
                }
            },
            priority: self.priority,
            private: self.is_private != 0,
            departures: self.departures != 0,
            speakers: self.speakers,
            loss: self.loss,
            deadline_ms: self.deadline_ms,
            min_rate: self.min_rate,
            max_rate: self.max_rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_the_facade() {
        let numbers = [
            gw_code::Version as u32,
            gw_code::Expired as u32,
            gw_code::OverQuota as u32,
            gw_code::InvalidArgument as u32,
            gw_code::Internal as u32,
            gw_code::Unknown as u32,
        ];
        let words = numbers.map(|number| ffi::Code::from_number(number).word());
        let right = ["version", "expired", "over-quota", "invalid-argument", "internal", "unknown"];
        assert_eq!(words, right);
        // A new code of the facade needs a line in gw_code, and then another number here.
        assert_eq!(ffi::Code::ALL.len(), 34);
    }
}
