//! The traffic of the two applications of the WEB paper with native clients.
//! `web/bench/src/play.ts` is the same in browsers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use groupwire_client::{ParticipantId, SendOptions, Sent};
use tokio::time::{sleep, sleep_until};

use super::Member;
use crate::Result;
use crate::browsers::protocol::{App, Play, Played};

/// The interval between positions of a pointer: 25 per second.
const STEP: Duration = Duration::from_millis(40);
/// The number of steps after which a stroke or a drag is complete: one per second.
const STEPS_PER_ACTION: u32 = 25;

/// The messages that were sent and their latencies.
#[derive(Default)]
pub(super) struct Log(Mutex<Times>);

#[derive(Default)]
struct Times {
    /// The time of each message, by participant, channel and content.
    sent: HashMap<(ParticipantId, &'static str, Vec<u8>), Instant>,
    played: Played,
    transactions_sent: u32,
}

impl Log {
    fn note(&self, sender: ParticipantId, channel: &'static str, text: &str) {
        self.with(|times| {
            match channel {
                "draw" => times.transactions_sent += 1,
                _ => times.played.sent += 1,
            }
            times.sent.insert((sender, channel, text.into()), Instant::now());
        });
    }

    pub(super) fn take(
        &self,
        sender: ParticipantId,
        channel: &'static str,
        content: &[u8],
        now: Instant,
    ) {
        self.with(|times| {
            // Other messages belong to an earlier play. Wrong messages show in the counts.
            if let Some(sent) = times.sent.get(&(sender, channel, content.to_vec())) {
                let ms = now.saturating_duration_since(*sent).as_secs_f64() * 1e3;
                match channel {
                    "draw" => times.played.transactions.push(ms),
                    _ => times.played.latencies.push(ms),
                }
            }
        });
    }

    fn with<R>(&self, then: impl FnOnce(&mut Times) -> R) -> R {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) async fn play(members: &[Arc<Member>], play: &Play) -> Result<Played> {
    let log = Arc::new(Log::default());
    members.iter().for_each(|member| member.receiver.note_in(Some(Arc::clone(&log))));
    let performing: Vec<_> = members
        .iter()
        .enumerate()
        .map(|(place, member)| {
            let phase = place as f64 / members.len() as f64;
            let (log, member, play) = (Arc::clone(&log), Arc::clone(member), play.clone());
            tokio::spawn(async move { perform(&log, &member, phase, &play).await })
        })
        .collect();
    for one in performing {
        one.await??;
    }
    let others = members.len() as u32 - 1;
    let end = Instant::now() + Duration::from_secs_f64(play.patience_ms / 1e3);
    let is_done = || {
        log.with(|times| {
            times.played.due = times.played.sent * others;
            times.played.transactions_due = times.transactions_sent * others;
            times.played.latencies.len() >= times.played.due as usize
                && times.played.transactions.len() >= times.played.transactions_due as usize
        })
    };
    while !is_done() && Instant::now() < end {
        sleep(Duration::from_millis(5)).await;
    }
    members.iter().for_each(|member| member.receiver.note_in(None));
    Ok(log.with(|times| times.played.clone()))
}

/// Sends the messages of one participant. `phase` shifts its times within a step, so that
/// participants do not send at the same time.
async fn perform(log: &Log, member: &Member, phase: f64, play: &Play) -> Result<()> {
    let start = tokio::time::Instant::now() + STEP.mul_f64(phase);
    let steps = (play.ms / 1e3 / STEP.as_secs_f64()).ceil() as u32;
    for step in 0..steps {
        sleep_until(start + STEP * step).await;
        for message in messages(play.app, step, phase) {
            log.note(member.number, message.channel, &message.text);
            let options = SendOptions {
                key: message.key.as_deref().map(str::as_bytes),
                ..SendOptions::default()
            };
            let sent = member.channel(message.channel)?.send(message.text.as_str(), options)?;
            if sent == Sent::NotNow {
                log.with(|times| {
                    times
                        .played
                        .wrong
                        .get_or_insert_with(|| format!("{}: not now", message.channel));
                });
            }
        }
    }
    Ok(())
}

struct Message {
    channel: &'static str,
    text: String,
    key: Option<String>,
}

fn messages(app: App, step: u32, phase: f64) -> Vec<Message> {
    use std::f64::consts::TAU;
    // A circle takes 9 s, so that no position repeats while an equal one may be in flight.
    let angle = f64::from(step) * STEP.as_secs_f64() * TAU / 9.0 + phase * TAU;
    let (x, y) = ((800.0 + 300.0 * angle.cos()).round(), (500.0 + 300.0 * angle.sin()).round());
    let message = |channel, text| Message { channel, text, key: None };
    let pointer = message("pointer", format!(r#"{{"x":{x},"y":{y}}}"#));
    let is_done = step % STEPS_PER_ACTION == STEPS_PER_ACTION - 1;
    let (id, from) = (step / STEPS_PER_ACTION, step % STEPS_PER_ACTION);
    match app {
        App::Pointer => vec![pointer],
        App::Whiteboard => {
            let stroke = format!(
                r#"{{"id":"n-{id}","color":3,"width":4,"from":{from},"points":[{x},{y}]}}"#
            );
            let done = format!(
                r#"{{"op":"add","shape":{{"id":"n-{id}","kind":"stroke","color":3,"width":4,"points":[{x},{y}]}}}}"#
            );
            let done = is_done.then(|| message("draw", done));
            [pointer, message("stroke", stroke)].into_iter().chain(done).collect()
        }
        App::Puzzle => {
            let (left, top) = (x - 20.0, y - 12.0);
            let drag = format!(r#"{{"id":"n-{id}","look":{{"x":{left},"y":{top}}}}}"#);
            let drag = Message { key: Some(format!("n-{id}")), ..message("drag", drag) };
            let drop = format!(r#"{{"op":"drop","id":"n-{id}","x":{left},"y":{top}}}"#);
            let drop = is_done.then(|| message("draw", drop));
            [pointer, drag].into_iter().chain(drop).collect()
        }
    }
}
