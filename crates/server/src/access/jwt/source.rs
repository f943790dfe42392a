//! Where the keys come from: a file, which is read again when it changes, or an address, whose keys rotate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::Uri;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::keys::{Key, Keys, Origin};
use crate::fetch::Fetcher;

/// The largest set of keys, in bytes.
const LARGEST: usize = 256 << 10;

/// How long an address may take to answer: a client that waits for the answer gives up after 5 s.
const DEADLINE: Duration = Duration::from_secs(4);

/// An address is asked at most once in this time, also for keys that nobody knows: tokens with invented keys cost it nothing.
const AT_MOST_EVERY: Duration = Duration::from_secs(10);

/// An address is asked again after this time.
const REFRESH: Duration = Duration::from_secs(300);

/// A key that is no longer in the set holds for this long: tokens that it signed just before go on.
const KEPT: Duration = Duration::from_secs(600);

/// While an address does not answer, the keys of its last answer hold for this long.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// A file is looked at again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The source of the keys that sign tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file with a set of JSON web keys, or with one public key in PEM. It is read again when it changes.
    File(PathBuf),
    /// An address of a set of JSON web keys (JWKS), over https only. It is asked again every 5 minutes, and at most once in 10 s
    /// for a key that is not known. A key that is no longer in the set holds for 10 minutes.
    Address(String),
}

#[derive(Debug)]
pub(super) struct Source {
    from: From,
    state: Mutex<State>,
}

#[derive(Debug)]
enum From {
    File(PathBuf),
    Address(Uri, Box<Fetcher>),
}

#[derive(Debug, Default)]
struct State {
    keys: Arc<Keys>,
    /// Keys that are no longer in the set, with the time until which they hold.
    former: Vec<(Key, Instant)>,
    /// When the source was read last, and when that was tried last.
    read: Option<Instant>,
    tried: Option<Instant>,
    /// When the file was changed that was read last.
    changed: Option<SystemTime>,
}

impl Source {
    /// Reads the keys. An address that does not answer yet is asked again later.
    ///
    /// # Errors
    /// What is wrong with the source, for the operator.
    pub(super) async fn open(source: KeySource, root: Option<PathBuf>) -> Result<Self, String> {
        let from = match source {
            KeySource::File(file) => From::File(file),
            KeySource::Address(address) => {
                let uri: Uri = address.parse().map_err(|_| format!("{address} is no address"))?;
                if uri.scheme_str() != Some("https") {
                    return Err(format!("{address}: keys are fetched over https:// only"));
                }
                From::Address(uri, Box::new(Fetcher::new(root.as_deref(), false, DEADLINE)?))
            }
        };
        let source = Source { from, state: Mutex::new(State::default()) };
        let mut state = source.state.lock().await;
        match (&source.from, source.read(&mut state).await) {
            (From::File(file), Err(why)) => return Err(format!("{}: {why}", file.display())),
            (From::Address(address, _), Err(why)) => {
                tracing::warn!(%address, why, "keys for tokens cannot be fetched yet: nobody can join");
            }
            (_, Ok(())) => {}
        }
        drop(state);
        Ok(source)
    }

    /// The key for a token whose header names this one; `None` if there is none.
    ///
    /// # Errors
    /// No keys could be read yet, or not for long.
    pub(super) async fn find(&self, id: Option<&str>) -> Result<Option<Key>, &'static str> {
        let mut state = self.state.lock().await;
        let now = Instant::now();
        let is_over = |at: Option<Instant>, time: Duration| at.is_none_or(|at| now >= at + time);
        let known = state.find(id, now);
        let (wants, least) = match &self.from {
            From::File(_) => (true, LOOK_AGAIN),
            From::Address(..) => (known.is_none() || is_over(state.read, REFRESH), AT_MOST_EVERY),
        };
        if wants
            && is_over(state.tried, least)
            && let Err(why) = self.read(&mut state).await
        {
            tracing::warn!(why, "keys for tokens cannot be read; those before hold");
        }
        if is_over(state.read, STALE) {
            return Err("the keys for tokens cannot be read");
        }
        Ok(state.find(id, now))
    }

    async fn read(&self, state: &mut State) -> Result<(), String> {
        let now = Instant::now();
        state.tried = Some(now);
        let (bytes, origin) = match &self.from {
            From::File(file) => {
                let said = |error: std::io::Error| error.to_string();
                let about = tokio::fs::metadata(file).await.map_err(said)?;
                let changed = about.modified().map_err(said)?;
                if state.changed == Some(changed) && state.read.is_some() {
                    state.read = Some(now);
                    return Ok(());
                }
                if about.len() > LARGEST as u64 {
                    return Err(format!("it is larger than {LARGEST} bytes"));
                }
                state.changed = Some(changed);
                (tokio::fs::read(file).await.map_err(said)?.into(), Origin::File)
            }
            From::Address(address, fetcher) => {
                (fetcher.get(address, LARGEST).await?, Origin::Address)
            }
        };
        let (keys, left_out) = Keys::parse(&bytes, origin)?;
        for why in left_out {
            tracing::warn!(why, "a key for tokens is left out");
        }
        state.replace(keys, now, origin);
        tracing::info!(keys = state.keys.0.len(), "keys for tokens read");
        Ok(())
    }
}

impl State {
    fn find(&self, id: Option<&str>, now: Instant) -> Option<Key> {
        let former = || {
            let of_id = |(key, until): &&(Key, Instant)| {
                id.is_some() && key.id.as_deref() == id && now < *until
            };
            self.former.iter().find(of_id).map(|(key, _)| key)
        };
        self.keys.find(id).or_else(former).cloned()
    }

    fn replace(&mut self, keys: Keys, now: Instant, origin: Origin) {
        self.former.retain(|(_, until)| now < *until);
        // Whoever takes a key out of a file means it.
        if origin == Origin::Address {
            let gone = self.keys.0.iter().filter(|key| keys.find(key.id.as_deref()).is_none());
            self.former.extend(gone.map(|key| (key.clone(), now + KEPT)));
        }
        self.keys = Arc::new(keys);
        self.read = Some(now);
    }
}
