//! Native participants, which send or count beside the server. They do with the native client what
//! `web/bench` does in browsers.

mod play;
mod receiver;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use groupwire_client::{Channel, Options, ParticipantId, Qos, Room, SendOptions, Sent};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::load::Load;
use super::protocol::{Command, Receive, Received, Reply, Send, Stage, StageError};
use crate::Result;
use play::play;
use receiver::Receiver as MessageReceiver;

/// The limit of joining, the same as for pages.
const JOINING: Duration = Duration::from_secs(15);

/// The pause between values that replace each other: short, so that a new value is ready whenever
/// the transport can send.
const NEWER: Duration = Duration::from_micros(100);

/// A stage whose members run on a runtime of this process.
pub(super) struct NativeStage {
    handle: Handle,
    members: Arc<Mutex<Vec<Arc<Member>>>>,
    /// The replies of the last command. Replies of earlier commands are dropped.
    replies: Receiver<Reply>,
}

impl NativeStage {
    pub(super) fn new(handle: &Handle) -> Self {
        let (_, replies) = channel();
        NativeStage { handle: handle.clone(), members: Arc::default(), replies }
    }
}

impl Stage for NativeStage {
    fn start(&mut self, command: Command) -> std::result::Result<(), StageError> {
        let (sender, replies) = channel();
        self.replies = replies;
        let members = Arc::clone(&self.members);
        self.handle.spawn(async move {
            let done = run(&members, command).await;
            let failed = |error: crate::Error| Reply::Fail { why: error.to_string() };
            // This fails if the experiment no longer waits for the reply.
            let _ = sender.send(done.unwrap_or_else(failed));
        });
        Ok(())
    }

    fn finish(&mut self, patience: Duration) -> std::result::Result<Reply, StageError> {
        match self.replies.recv_timeout(patience) {
            Ok(Reply::Fail { why }) => Err(StageError::Failed(why)),
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => Err(StageError::Silent(patience)),
            Err(RecvTimeoutError::Disconnected) => Err(StageError::Gone),
        }
    }
}

async fn run(members: &Mutex<Vec<Arc<Member>>>, command: Command) -> Result<Reply> {
    let member = |number: usize| async move {
        members
            .lock()
            .await
            .get(number)
            .cloned()
            .ok_or_else(|| format!("there is no participant {number}"))
    };
    match command {
        Command::Join { transport, room, servers } => {
            let joining = servers.iter().map(|server| Member::join(server, &room));
            let start = Instant::now();
            let mut ms = Vec::new();
            for joined in joining {
                members.lock().await.push(Arc::new(joined.await?));
                ms.push(start.elapsed().as_secs_f64() * 1e3);
            }
            Ok(Reply::Join { ms, transport })
        }
        Command::Send(send) => {
            let messages = member(send.member).await?.send(&send).await?;
            Ok(Reply::Send { messages })
        }
        Command::Expect(receive) => {
            member(receive.member).await?.receiver.expect(&receive);
            Ok(Reply::Expect)
        }
        Command::Receive(receive) => {
            Ok(Reply::Receive(member(receive.member).await?.receive(&receive).await))
        }
        Command::Play(what) => {
            let mut players = Vec::new();
            for number in &what.members {
                players.push(member(*number).await?);
            }
            Ok(Reply::Play(play(&players, &what).await?))
        }
        Command::Attend(_) | Command::Act(_) | Command::Bare(_) => Err("this is for pages".into()),
        Command::Leave => {
            for member in members.lock().await.drain(..) {
                member.room.leave().await;
            }
            Ok(Reply::Leave)
        }
    }
}

/// A native participant.
pub(super) struct Member {
    room: Room,
    pub(super) number: ParticipantId,
    channels: HashMap<&'static str, Channel>,
    receiver: Arc<MessageReceiver>,
}

impl Member {
    async fn join(server: &str, room: &str) -> Result<Self> {
        let (room, events) = Room::connect(server, Options::new(room))?;
        let live = |rate| Qos::awareness().rate(0, rate).deadline(Duration::from_millis(250));
        // The same channels as in `web/bench/src/member.ts`.
        let qos = [
            ("pointer", live(30)),
            (
                "stroke",
                live(30).aggregate().loss_per_mille(20).deadline(Duration::from_millis(400)),
            ),
            ("drag", live(30)),
            ("draw", Qos { priority: 200, ..Qos::transaction() }),
            ("bulk", Qos::transaction()),
            ("latest", Qos::awareness()),
        ];
        let mut channels = HashMap::new();
        for (name, qos) in qos {
            channels.insert(name, room.channel(name, qos)?);
        }
        let names = channels.iter().map(|(name, channel)| (channel.id(), *name)).collect();
        let receiver = Arc::new(MessageReceiver::new(names));
        tokio::spawn(Arc::clone(&receiver).listen(events));
        let number = timeout(JOINING, room.joined()).await??;
        timeout(JOINING, receiver.synced()).await?;
        Ok(Member { room, number, channels, receiver })
    }

    pub(super) fn channel(&self, name: &str) -> Result<&Channel> {
        self.channels.get(name).ok_or_else(|| format!("there is no channel {name}").into())
    }

    /// Sends a load and returns the number of messages that the client accepted.
    async fn send(&self, send: &Send) -> Result<u32> {
        if send.latest {
            let (channel, send) = (self.channel("latest")?.clone(), send.clone());
            // On a blocking thread, because timers of the runtime have a resolution of 1 ms.
            return tokio::task::spawn_blocking(move || send_latest(&channel, &send)).await?;
        }
        let channel = self.channel("bulk")?;
        let start = Instant::now();
        for number in 0..send.count {
            if start.elapsed() > longest(send) {
                return Ok(number);
            }
            let bytes = message(send, number);
            while channel.send(&bytes[..], SendOptions::default())? == Sent::NotNow {
                // The drain may have come before this wait, so the wait is short.
                let _ = timeout(Duration::from_millis(20), self.receiver.drained()).await;
            }
            let due = Duration::from_secs_f64(f64::from(number + 1) * send.every_ms / 1e3);
            if send.every_ms > 0.0 {
                sleep_until(start + due).await;
            }
        }
        Ok(send.count)
    }

    async fn receive(&self, receive: &Receive) -> Received {
        let patience = Duration::from_secs_f64(receive.ms / 1e3);
        if receive.latest {
            sleep(patience).await;
        } else {
            let _ = timeout(patience, self.receiver.complete()).await;
        }
        self.receiver.received()
    }
}

fn send_latest(channel: &Channel, send: &Send) -> Result<u32> {
    let start = std::time::Instant::now();
    for number in 0..send.count {
        if start.elapsed() > longest(send) {
            return Ok(number);
        }
        let options = SendOptions { key: Some(b"value"), ..SendOptions::default() };
        channel.send(&message(send, number)[..], options)?;
        std::thread::sleep(NEWER);
    }
    Ok(send.count)
}

fn longest(send: &Send) -> Duration {
    Duration::from_secs_f64(send.ms / 1e3)
}

fn message(send: &Send, number: u32) -> Vec<u8> {
    Load { number, run: send.run, is_last: number + 1 == send.count }.fill(send.size)
}
