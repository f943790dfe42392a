//! A scene over real sockets: the server, a process of its own, and native clients or pages of a
//! browser, with emulated paths between them.
//!
//! Everybody joins over paths without loss, and begins at the same moment; then all is as in
//! simulated time.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::path::Path as FilePath;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use groupwire_client::{
    Channel, Event, Events, Options as ClientOptions, Room, SendOptions, Sent, Trust,
};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use super::notes::{NOT_TAKEN, Notes, changes, open_channels};
use super::page::Performer;
use super::path::Path;
use super::play::{Played, REST};
use super::scene::{MOVER, Scene};
use super::script::Script;
use crate::Result;
use crate::browsers::Page;
use crate::emulator::{self, Emulator};
use crate::server::{Server, Start, UNLIMITED, groupwire_at};
use crate::sim::random::derive;
use crate::sim::{Lane, Loss, Queue};

/// The longest time that joining may take: over a modem the handshake alone takes seconds.
const JOINING: Duration = Duration::from_secs(30);
/// The longest time that leaving may take.
const LEAVING: Duration = Duration::from_secs(2);

/// The emulator, program and runtime with which a scene is played.
pub(super) struct SceneResources<'a> {
    pub(super) emulator: &'a Emulator,
    /// The index of the scene's first client in the emulator.
    pub(super) first: usize,
    pub(super) program: &'a FilePath,
    /// The runtime on which native clients run.
    pub(super) clients: &'a Handle,
    /// The origins of pages.
    pub(super) origins: &'a [String],
}

/// Plays a scene in real time, the first participants in these pages, all others natively. The
/// script that is returned has the times at which messages were really sent.
///
/// What goes wrong with a connection, or before all have joined, is a result.
pub(super) fn play(
    place: &SceneResources<'_>,
    pages: &mut [Page],
    scene: &Scene,
    seed: u64,
) -> (Script, Played) {
    let mut played = Played {
        arrivals: vec![Vec::new(); scene.paths.len()],
        wire_bytes: vec![0; scene.paths.len()],
        ..Played::default()
    };
    let mut script = Script::clone(&scene.script);
    let run = Run { place, scene, seed };
    if let Err(error) = run.all(pages, &mut script, &mut played) {
        played.failure.get_or_insert(error.to_string());
    }
    (script, played)
}

struct Run<'a> {
    place: &'a SceneResources<'a>,
    scene: &'a Scene,
    seed: u64,
}

impl Run<'_> {
    fn all(&self, pages: &mut [Page], script: &mut Script, played: &mut Played) -> Result<()> {
        let Run { place, scene, .. } = self;
        self.lay_paths(true);
        let command = server(place.program, scene.tick, place.origins);
        let server = Server::start(Start { command, port: None })?;
        let (start, started) = watch::channel(None);
        let (joined, joining) = channel();
        let mut people = JoinSet::new();
        for (who, path) in scene.paths.iter().enumerate().skip(pages.len()) {
            let scheme = match path.lane {
                Lane::WebTransport => "https",
                Lane::WebSocket => "ws",
            };
            let person = (Arc::clone(&scene.script), who, self.url(scheme, who, &server));
            people.spawn_on(attend(person, joined.clone(), started.clone()), place.clients);
        }
        let notes = thread::scope(|scope| {
            let mut performing = Vec::new();
            for (who, page) in pages.iter_mut().enumerate().take(scene.paths.len()) {
                let transport = scene.transport(who);
                let performer = Performer { page, script: &scene.script, who };
                let person = (performer, self.url("http", who, &server), transport);
                let (joined, started) = (joined.clone(), started.clone());
                performing
                    .push(scope.spawn(move || perform(person, joined, started, place.clients)));
            }
            drop(joined);
            let done = await_all(&joining, scene.paths.len()).and_then(|()| {
                let begin = Instant::now();
                self.lay_paths(false);
                start.send_replace(Some(begin));
                self.follow(begin, played)
            });
            // Dropping the sender ends participants that still wait for the start.
            drop(start);
            let performed = performing.into_iter().map(|one| one.join().ok().flatten());
            let mut notes: Vec<_> = performed.flatten().collect();
            if done.is_ok() {
                notes.extend(place.clients.block_on(people.join_all()));
            }
            done.map(|()| notes)
        })?;
        played.told = vec![Vec::new(); scene.paths.len()];
        for (notes, sent) in notes {
            let who = notes.who;
            for (action, at) in script.actions[who].iter_mut().zip(sent) {
                action.at = at;
            }
            played.arrivals[who] = notes.arrivals;
            played.told[who] = notes.told;
            played.wrong = played.wrong.take().or(notes.wrong);
            played.failure = played.failure.take().or(notes.failure);
        }
        Ok(())
    }

    /// Changes paths until the script has ended.
    fn follow(&self, begin: Instant, played: &mut Played) -> Result<()> {
        let Run { place, scene, .. } = self;
        let has_moved = self.turn(begin, played)?;
        sleep((begin + scene.script.end + REST).saturating_duration_since(Instant::now()));
        for who in 0..scene.paths.len() {
            played.wire_bytes[who] += self.carried(who);
        }
        if has_moved {
            // Returns the mover to its first network for the next scene.
            place.emulator.move_client(place.first + MOVER)?;
        }
        Ok(())
    }

    /// Gives all participants their paths.
    fn lay_paths(&self, is_joining: bool) {
        for (who, path) in self.scene.paths.iter().enumerate() {
            let path = self.emulated(who, path, is_joining);
            self.place.emulator.change(self.place.first + who, &path);
        }
    }

    /// The address at which a participant reaches the server.
    fn url(&self, scheme: &str, who: usize, server: &Server) -> String {
        let host = self.place.emulator.client(self.place.first + who).server();
        format!("{scheme}://{host}:{}", server.port)
    }

    /// Changes paths at their times. Returns whether the moving participant ends on another
    /// network.
    fn turn(&self, begin: Instant, played: &mut Played) -> Result<bool> {
        let Run { place, scene, .. } = self;
        let mut has_moved = false;
        for turn in &scene.turns {
            sleep((begin + turn.at).saturating_duration_since(Instant::now()));
            // The counters of a new path begin at 0.
            played.wire_bytes[turn.who] += self.carried(turn.who);
            let client = place.first + turn.who;
            place.emulator.change(client, &self.emulated(turn.who, &turn.path, false));
            if turn.moves {
                place.emulator.move_client(client)?;
                has_moved = !has_moved;
            }
        }
        Ok(has_moved)
    }

    /// The path of a participant. While people join nothing is lost, nor dropped by a queue: that
    /// of a modem has no room for the packets of a handshake, which QUIC fills up to 1,200 bytes.
    fn emulated(&self, who: usize, path: &Path, is_joining: bool) -> emulator::Path {
        let Path { mut up, mut down, .. } = path.clone();
        if is_joining {
            for link in [&mut up, &mut down] {
                (link.loss, link.queue) = (Loss::NONE, Queue::Unlimited);
            }
        }
        emulator::Path { up, down, seed: derive(self.seed, who as u64) }
    }

    fn carried(&self, who: usize) -> u64 {
        let stats = self.place.emulator.stats(self.place.first + who);
        stats.up.bytes + stats.down.bytes
    }
}

/// Waits until all have joined.
fn await_all(joining: &Receiver<std::result::Result<(), String>>, count: usize) -> Result<()> {
    let end = Instant::now() + JOINING;
    for number in 0..count {
        let left = end.saturating_duration_since(Instant::now());
        match joining.recv_timeout(left) {
            Ok(joined) => joined?,
            Err(_) => return Err(format!("{number} of {count} have joined in time").into()),
        }
    }
    Ok(())
}

/// The command of a server that clients reach over all paths.
fn server(program: &FilePath, tick: Duration, origins: &[String]) -> Command {
    // No other program is in the namespace.
    let listen = (Ipv4Addr::UNSPECIFIED, 0).into();
    let mut command = groupwire_at(program, tick.as_millis() as u64, listen);
    command.args(UNLIMITED);
    for origin in origins {
        command.args(["--origin", origin]);
    }
    command
}

/// The observations of a participant, and when each of its messages was sent.
type Outcome = (Notes, Vec<Duration>);

/// Reports that a participant has joined, or why not.
type Joined = Sender<std::result::Result<(), String>>;

/// Runs a page that joins, performs the script from `started` on, and leaves. `None` if it has not
/// joined.
fn perform(
    (mut performer, server, transport): (Performer<'_>, String, &'static str),
    joined: Joined,
    mut started: watch::Receiver<Option<Instant>>,
    runtime: &Handle,
) -> Option<Outcome> {
    let attended = performer.attend(server, transport, JOINING);
    let who = performer.who;
    let attended = attended.map_err(|error| format!("participant {who} cannot join: {error}"));
    let has_joined = attended.is_ok();
    // Sending fails if the receiver of the channel is gone; that does no harm.
    let _ = joined.send(attended);
    let begin = match has_joined {
        // An error means that not all participants have joined.
        true => runtime.block_on(started.wait_for(Option::is_some)).ok().and_then(|begin| *begin),
        false => None,
    };
    let outcome = begin.map(|begin| performer.act(begin));
    // The results do not depend on whether leaving succeeds.
    let _ = performer.leave();
    outcome
}

/// Runs a native participant that joins, performs the script from `started` on, and leaves. Returns
/// its observations, and when each message was sent.
async fn attend(
    (script, who, url): (Arc<Script>, usize, String),
    joined: Joined,
    mut started: watch::Receiver<Option<Instant>>,
) -> Outcome {
    let mut notes = Notes::new(&script, who, Vec::new());
    let mut sent = Vec::new();
    let trust = if url.starts_with("https") { Trust::Ask } else { Trust::Auto };
    let options = ClientOptions { seed: who as u64 + 1, ..ClientOptions::new("contract") };
    let joining = async {
        let (room, mut events) = Room::connect_trusting(&url, trust, options)?;
        let mut failure = None;
        let channels = open_channels(&script, |channel| {
            room.channel(channel.wire, channel.qos).map_err(|error| failure = Some(error)).ok()
        });
        let channels: Option<Vec<Channel>> = channels.into_iter().collect();
        let channels = channels
            .ok_or_else(|| failure.take().map_or_else(String::new, |one| one.to_string()))?;
        room.joined().await?;
        while !matches!(events.next().await, Some(Event::Synced { channel: None }) | None) {}
        Result::Ok((room, events, channels))
    };
    let present = match timeout(JOINING, joining).await {
        Ok(Ok(present)) => present,
        Ok(Err(error)) => {
            // Sending fails if the receiver of the channel is gone; that does no harm.
            let _ = joined.send(Err(format!("participant {who} cannot join: {error}")));
            return (notes, sent);
        }
        Err(_) => {
            let _ = joined.send(Err(format!("participant {who} has not joined in time")));
            return (notes, sent);
        }
    };
    let _ = joined.send(Ok(()));
    let (room, events, channels) = present;
    notes.channels = channels.iter().map(Channel::id).collect();
    // An error means that not all participants have joined.
    let begin = started.wait_for(Option::is_some).await.ok().and_then(|begin| *begin);
    if let Some(begin) = begin {
        sent = act(begin, &script, &channels, &mut notes, events).await;
    }
    // The results do not depend on whether leaving succeeds.
    let _ = timeout(LEAVING, room.leave()).await;
    (notes, sent)
}

/// Sends and receives messages until the script has ended. Returns when each message was sent.
async fn act(
    begin: Instant,
    script: &Script,
    channels: &[Channel],
    notes: &mut Notes,
    mut events: Events,
) -> Vec<Duration> {
    let actions = &script.actions[notes.who];
    let mut changes = changes(script, notes.who);
    let mut sent = Vec::with_capacity(actions.len());
    let mut batch = VecDeque::new();
    let end = begin + script.end + REST;
    while Instant::now() < end {
        let now = begin.elapsed();
        while let Some(&(_, place)) = changes.front().filter(|(at, _)| *at <= now) {
            changes.pop_front();
            if let Err(error) = channels[place].set_qos(script.channels[place].qos) {
                notes.fail(now, &error.to_string());
            }
        }
        while let Some(action) = actions.get(sent.len()).filter(|one| one.at <= begin.elapsed()) {
            let now = begin.elapsed();
            sent.push(now);
            let key = script.key(action);
            let options =
                SendOptions { key: key.as_ref().map(|key| &key[..]), ..SendOptions::default() };
            let (channel, bytes) = (&channels[action.channel], &action.bytes[..]);
            let sent = match std::str::from_utf8(bytes) {
                Ok(text) if script.channels[action.channel].is_text => channel.send(text, options),
                _ => channel.send(bytes, options),
            };
            match sent {
                Ok(Sent::NotNow) => notes.fail(now, NOT_TAKEN),
                Ok(_) => {}
                Err(error) => notes.fail(now, &error.to_string()),
            }
        }
        let next = [actions.get(sent.len()).map(|one| one.at), changes.front().map(|(at, _)| *at)];
        let next = next.into_iter().flatten().min().map_or(end, |at| begin + at);
        tokio::select! {
            goes_on = events.next_batch(&mut batch) => {
                let now = begin.elapsed();
                batch.drain(..).for_each(|event| notes.event(now, event));
                if !goes_on {
                    notes.fail(now, "the session has ended");
                    break;
                }
            }
            () = sleep_until(next.min(end).into()) => {}
        }
    }
    sent
}
