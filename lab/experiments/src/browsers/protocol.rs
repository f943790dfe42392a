//! The commands for participants, and their answers. `web/bench/src/protocol.ts` has the same for
//! pages.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::options::named;

/// The place where participants run: a browser's page, or this process. It does one command at a
/// time.
pub(crate) trait Stage: std::marker::Send {
    /// Begins a command.
    ///
    /// # Errors
    /// If there is nobody any more to do it.
    fn start(&mut self, command: Command) -> Result<(), StageError>;

    /// Waits for the answer to the command that was begun.
    ///
    /// # Errors
    /// If there is none in time, or it is [`Reply::Fail`].
    fn finish(&mut self, patience: Duration) -> Result<Reply, StageError>;
}

/// Why a stage has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StageError {
    /// The stage reports an error.
    #[error("{0}")]
    Failed(String),
    /// The browser did not answer in time.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The answer belongs to another command.
    #[error("the answer is to another question")]
    Confused,
    /// The browser has ended.
    #[error("the browser has ended")]
    Gone,
}

/// A command for a stage. Members are counted from 0, in the order in which they joined.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Command {
    /// Further members join a room, each over its own address of the server.
    Join {
        /// The only transport to use.
        transport: String,
        /// The name of the room.
        room: String,
        /// The server's address for each member: `http://host:port`, for the socket
        /// `tcp://host:port`.
        servers: Vec<String>,
    },
    /// A member sends a load.
    Send(Send),
    /// A member begins to count the messages of a load.
    Expect(Receive),
    /// The same member waits for the last message of the load.
    Receive(Receive),
    /// Members send an application's traffic, and record the latency of each message.
    Play(Play),
    /// Sends or receives a load by a bare technique.
    Bare(Bare),
    /// Joins a room, to act in it.
    Attend(Attend),
    /// Performs a script.
    Act(Act),
    /// All members leave the room.
    Leave,
}

/// A command or its answer with a number, because an answer may come when it is no longer awaited.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Numbered<T> {
    pub(super) number: u32,
    #[serde(flatten)]
    pub(super) content: T,
}

/// See [`Command::Send`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Send {
    /// The member that sends.
    pub(crate) member: usize,
    /// The number of this load, because messages of others may still be under way.
    pub(crate) run: u32,
    /// The number of messages.
    pub(crate) count: u32,
    /// The size of a message in bytes.
    pub(crate) size: usize,
    /// The interval of messages; 0: as fast as the client accepts them.
    pub(crate) every_ms: f64,
    /// Values that replace each other instead of transactions.
    pub(crate) latest: bool,
    /// The time limit.
    pub(crate) ms: f64,
}

/// See [`Command::Receive`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Receive {
    /// The member that receives.
    pub(crate) member: usize,
    /// The load's name.
    pub(crate) run: u32,
    /// The size of the load's messages.
    pub(crate) size: usize,
    /// Values that replace each other instead of transactions.
    pub(crate) latest: bool,
    /// For values that replace each other: how long to count. Otherwise: how long to wait for the
    /// last message.
    pub(crate) ms: f64,
}

/// See [`Command::Bare`]; the answer is [`Reply::Receive`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Bare {
    /// The transport that the technique is like.
    pub(crate) technique: String,
    /// Whether the page sends.
    pub(crate) is_up: bool,
    /// `http://host:port` or, for WebSocket, `ws://host:port`.
    pub(crate) server: String,
    pub(crate) run: u32,
    pub(crate) count: u32,
    pub(crate) size: usize,
    /// The time limit.
    pub(crate) ms: f64,
}

/// See [`Command::Play`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Play {
    /// The application whose traffic is sent.
    pub(crate) app: App,
    /// The members that send.
    pub(crate) members: Vec<usize>,
    /// The duration.
    pub(crate) ms: f64,
    /// How long to wait at the end for messages that are under way.
    pub(crate) patience_ms: f64,
}

/// See [`Command::Attend`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Attend {
    pub(crate) transport: &'static str,
    pub(crate) room: String,
    /// `http://host:port`.
    pub(crate) server: String,
    pub(crate) channels: Vec<Opened>,
}

/// A channel that is opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Opened {
    pub(crate) name: &'static str,
    pub(crate) qos: PageQos,
    /// Whether its messages are bytes, which commands and answers write as characters below 256.
    pub(crate) binary: bool,
}

/// A QoS as pages know it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageQos {
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overflow: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deadline: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_rate: Option<f64>,
}

/// See [`Command::Act`]. Times are in ms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Act {
    /// When the script begins, since 1970; all other times count from then.
    pub(crate) start: f64,
    /// The duration of the script.
    pub(crate) ms: f64,
    pub(crate) actions: Vec<PageAction>,
    pub(crate) changes: Vec<PageChange>,
}

/// A message that is sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PageAction {
    pub(crate) at: f64,
    /// The place of its channel in [`Attend::channels`].
    pub(crate) channel: usize,
    pub(crate) key: Option<String>,
    pub(crate) text: String,
}

/// A channel that is to have another QoS.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PageChange {
    pub(crate) at: f64,
    pub(crate) channel: usize,
    pub(crate) qos: PageQos,
}

/// The answer of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "lowercase")]
pub(crate) enum Reply {
    /// All members have joined.
    Join {
        /// The duration of each join.
        ms: Vec<f64>,
        /// The transport in use; if members differ, one that was not requested.
        transport: String,
    },
    /// The member has sent its load.
    Send {
        /// The number of messages that the client accepted.
        messages: u32,
    },
    /// The member has begun to count.
    Expect,
    /// The messages that the member received.
    Receive(Received),
    /// The result of an application's traffic.
    Play(Played),
    /// The page has joined.
    Attend,
    /// The result of a script.
    Act(Acted),
    /// All members have left.
    Leave,
    /// The command failed.
    Fail {
        /// The reason for the failure.
        why: String,
    },
}

/// See [`Reply::Receive`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Received {
    /// The number of messages of that load that arrived.
    pub(crate) messages: u32,
    /// Turns of the event loop in which messages arrived: messages of one packet arrive in one
    /// turn.
    pub(crate) arrivals: u32,
    /// The time from the first message to the last.
    pub(crate) span_ms: f64,
    /// True if the last message of the load arrived.
    pub(crate) complete: bool,
    /// The first error.
    pub(crate) wrong: Option<String>,
}

/// See [`Reply::Play`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Played {
    /// Awareness messages sent.
    pub(crate) sent: u32,
    /// The number of deliveries that should follow.
    pub(crate) due: u32,
    /// The latencies of the deliveries, in ms.
    pub(crate) latencies: Vec<f64>,
    /// The number of deliveries of transactions that should follow.
    pub(crate) transactions_due: u32,
    /// The latencies of transactions, in ms.
    pub(crate) transactions: Vec<f64>,
    /// The first wrong delivery, if there was one.
    pub(crate) wrong: Option<String>,
}

/// See [`Reply::Act`]. Times are in ms from the beginning of the script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Acted {
    /// When each message was sent.
    pub(crate) sent: Vec<f64>,
    /// When each message of others came, and its content.
    pub(crate) arrivals: Vec<(f64, String)>,
    /// For each channel, whether an event reported that its contract is not kept.
    pub(crate) told: Vec<bool>,
    /// The first failure of the connection.
    pub(crate) failure: Option<String>,
}

/// An application whose traffic is imitated. All send 25 times per second; pointers and drags are
/// conflated, strokes aggregated, awareness all of them; once per second what was drawn or dragged
/// is done, as a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum App {
    /// A pointer and a piece of a stroke each time.
    Whiteboard,
    /// A pointer and a dragged piece each time.
    Puzzle,
    /// A pointer, and nothing else.
    Pointer,
}

named!(App);

#[cfg(test)]
mod tests {
    use super::*;

    /// As `protocol.ts` has it.
    #[test]
    fn commands_and_replies_are_what_pages_understand() {
        let play = Play { app: App::Puzzle, members: vec![0, 1], ms: 200.0, patience_ms: 50.0 };
        assert_eq!(
            serde_json::to_string(&Command::Play(play)).unwrap(),
            r#"{"do":"play","app":"puzzle","members":[0,1],"ms":200.0,"patience_ms":50.0}"#
        );
        assert_eq!(serde_json::to_string(&Command::Leave).unwrap(), r#"{"do":"leave"}"#);
        let said = r#"{"did":"receive","messages":3,"arrivals":2,"span_ms":1.5,"complete":true,"wrong":null}"#;
        let received =
            Received { messages: 3, arrivals: 2, span_ms: 1.5, complete: true, wrong: None };
        assert_eq!(serde_json::from_str::<Reply>(said).unwrap(), Reply::Receive(received));
        let numbered = Numbered { number: 7, content: Command::Leave };
        assert_eq!(serde_json::to_string(&numbered).unwrap(), r#"{"number":7,"do":"leave"}"#);
        let fail = serde_json::from_str::<Reply>(r#"{"did":"fail","why":"x"}"#).unwrap();
        assert_eq!(fail, Reply::Fail { why: "x".into() });
    }
}
