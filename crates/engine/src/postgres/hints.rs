//! Hints by NOTIFY and LISTEN.
//!
//! PostgreSQL commits transactions with a NOTIFY one after the other, so an append has none. A
//! connection of its own tells of appends that are stored, of many at a time.

use std::collections::BTreeSet;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::connect::Target;
use super::link::{Link, PAUSE};
use crate::Hints;

/// Numbers of logs that wait, at most. A notification has less than 8000 bytes.
const WAITING: usize = 1024;

/// The commit is not worth a sync: a hint may be lost.
const TELL: &str = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/// Tells other servers of new entries.
pub(super) struct Teller {
    sender: mpsc::Sender<u16>,
}

impl Teller {
    pub(super) fn new(target: &Target) -> Self {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let (link, channel) = (Link::new(target), target.schema.clone());
        tokio::spawn(async move {
            let mut logs: Vec<u16> = Vec::new();
            while receiver.recv_many(&mut logs, WAITING).await > 0 {
                let numbers: BTreeSet<u16> = logs.drain(..).collect();
                let text: Vec<String> = numbers.iter().map(u16::to_string).collect();
                let text = text.join(",");
                let _ = link.query(TELL, &[&channel, &text]).await;
            }
        });
        Self { sender }
    }

    pub(super) fn send(&self, log: u16) {
        let _ = self.sender.try_send(log);
    }
}

/// Receives what the tellers of all servers tell.
pub(super) fn listen(target: &Target) -> Hints {
    let (sender, receiver) = mpsc::channel(WAITING);
    let target = target.clone();
    tokio::spawn(async move {
        let listen = format!("LISTEN \"{}\"", target.schema);
        while !sender.is_closed() {
            let logs = sender.clone();
            let connected = target.connect(move |notification| {
                for log in notification.payload().split(',').filter_map(|log| log.parse().ok()) {
                    let _ = logs.try_send(log);
                }
            });
            if let Ok(mut live) = connected.await
                && live.client.batch_execute(&listen).await.is_ok()
            {
                tokio::select! {
                    _ = &mut live.driver => {}
                    () = sender.closed() => return,
                }
            }
            sleep(PAUSE).await;
        }
    });
    receiver
}
