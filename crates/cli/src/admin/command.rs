//! The commands of `groupwire admin`.

use std::error::Error;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the rooms that are open or stored.
    Rooms,
    /// List the participants of an open room.
    People {
        /// The room's name.
        room: String,
    },
    /// List what the channels of a room hold.
    Channels {
        /// The room's name.
        room: String,
    },
    /// Print the newest transactions and values of a channel, as JSON.
    Values {
        /// The room's name.
        room: String,
        /// The channel's name.
        channel: String,
        /// Most transactions, and most values; at most 200.
        #[arg(long, default_value_t = 20, value_name = "COUNT")]
        limit: u32,
        /// Only transactions before this position: `next_before` of the page before.
        #[arg(long, value_name = "POSITION")]
        before: Option<u64>,
        /// Only values before this order: `next_values_before` of the page before.
        #[arg(long, value_name = "ORDER")]
        values_before: Option<u64>,
    },
    /// Publish a message of the room itself, whose sender is 0. Returns when a transaction has
    /// taken effect.
    Publish {
        /// The room's name.
        room: String,
        /// The channel's name. The room has to have it.
        channel: String,
        #[command(flatten)]
        content: Content,
        /// The key of a value of a channel that conflates.
        #[arg(long)]
        key: Option<String>,
        /// Names the request: a second request with the same key publishes nothing. Default: a
        /// random key.
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// Close a participant's connection, after which its client does not come back by itself.
    Kick {
        /// The room's name.
        room: String,
        /// The participant's number, as in the list of people.
        participant: u32,
        /// Ban its user from this room, for this many seconds, or `forever`.
        #[arg(long, value_name = "SECONDS")]
        ban: Option<String>,
    },
    /// List the users and tokens that are kept out.
    Bans,
    /// Keep a user or a token out, and close their connections.
    Ban(NewBan),
    /// End a ban.
    Unban {
        /// The ban's number, as in the list of bans.
        ban: u64,
    },
    /// Drop the transactions, values and snapshots of channels. Participants are told of a gap.
    Reset {
        /// The room's name.
        room: String,
        /// The channels' names. Those that share a part of the snapshot are reset together.
        #[arg(required = true)]
        channels: Vec<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Delete the stored content of a room. Its participants come back to an empty room.
    Delete {
        /// The room's name.
        room: String,
    },
    /// Copy stored rooms to one file, which shows one moment.
    Export {
        /// The file to write. It must not exist.
        file: PathBuf,
        /// Only this room. Default: all.
        #[arg(long, value_name = "NAME")]
        room: Option<String>,
    },
    /// Take rooms from the file of an export. Their participants are told of a gap.
    Import {
        /// The file of the export.
        file: PathBuf,
        /// Only this room. Default: all.
        #[arg(long, value_name = "NAME")]
        room: Option<String>,
        /// Replace rooms that exist.
        #[arg(long)]
        replace: bool,
    },
    /// List the snapshots and positions that a stored room can be taken back to.
    Snapshots {
        /// The room's name.
        room: String,
    },
    /// Take a stored room back to a snapshot or a position. Its participants are disconnected, and
    /// come back with a gap.
    Restore {
        /// The room's name.
        room: String,
        /// Drop the newer snapshots of the same name. No transaction is lost: those after this
        /// snapshot are applied again.
        #[arg(long, value_name = "NUMBER", required_unless_present = "position")]
        snapshot: Option<i64>,
        /// Also drop every transaction after the one at this position.
        #[arg(long, conflicts_with = "snapshot")]
        position: Option<u64>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
    /// Make /readyz answer 503 at once, and stop the server after a time.
    Drain {
        /// Seconds until the server stops, so that balancers notice first. Default: the server's
        /// --drain-wait.
        #[arg(long, value_name = "SECONDS")]
        wait: Option<u64>,
    },
}

/// The content of a published message.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Content {
    /// The message, as text.
    text: Option<String>,
    /// A file with the message, as bytes.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Content {
    pub(super) fn to_json(&self) -> Result<Value, Box<dyn Error>> {
        match (&self.text, &self.file) {
            (_, Some(file)) => {
                let bytes =
                    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
                Ok(json!({ "base64": BASE64_STANDARD.encode(bytes) }))
            }
            (text, None) => Ok(json!({ "text": text })),
        }
    }
}

/// The user or the token that a ban keeps out.
#[derive(Debug, Args)]
pub(super) struct NewBan {
    /// The user: `sub` of its tokens.
    #[arg(long, required_unless_present = "token")]
    user: Option<String>,
    /// The token: its `jti`.
    #[arg(long, conflicts_with = "user")]
    token: Option<String>,
    /// Only the user's tokens that were issued before this Unix time, in seconds.
    #[arg(long, value_name = "TIME", requires = "user")]
    issued_before: Option<u64>,
    /// The rooms from which it is kept out; a star stands for any text.
    #[arg(long, default_value = "*")]
    room: String,
    /// How long the ban lasts. Default: until it is ended.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// The reason that the user is told.
    #[arg(long)]
    reason: Option<String>,
}

impl NewBan {
    /// The JSON body of the request, without the options that are not given.
    pub(super) fn to_json(&self) -> Value {
        let NewBan { user, token, issued_before, room, seconds, reason } = self;
        let mut ban = json!({ "user": user, "token": token, "issued_before": issued_before, "room": room,
            "seconds": seconds, "reason": reason });
        if let Value::Object(fields) = &mut ban {
            fields.retain(|_, value| !value.is_null());
        }
        ban
    }
}
