//! Where the keys come from: a file, which is read again when it changes, or an address, whose keys
//! rotate.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Bytes;
use hyper::Uri;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::keys::{Key, Keys, Origin};
use crate::tools::fetch::Fetcher;

/// The largest set of keys, in bytes.
const LARGEST: usize = 256 << 10;

/// How long an address may take to answer: a client that waits for the answer gives up after 5 s.
const DEADLINE: Duration = Duration::from_secs(4);

/// The shortest time between two requests to an address, also for unknown keys, so that tokens with
/// invented keys cause no more requests.
const AT_MOST_EVERY: Duration = Duration::from_secs(10);

/// An address is asked again after this time.
const REFRESH: Duration = Duration::from_secs(300);

/// A key that is no longer in the set stays valid for this long, for tokens that it signed shortly
/// before.
const KEPT: Duration = Duration::from_secs(600);

/// While an address does not answer, the keys of its last answer stay valid for this long.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// A file is looked at again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The source of the keys that sign tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file with a set of JSON web keys, or with one public key in PEM. It is read again when it
    /// changes.
    File(PathBuf),
    /// An address of a set of JSON web keys (JWKS), over https only. It is asked again every 5
    /// minutes, and at most once in 10 s for a key that is not known. A key that is no longer in
    /// the set holds for 10 minutes.
    Address(String),
}

/// A source of keys, and the keys that were read last.
#[derive(Debug)]
pub(super) struct Source {
    from: From,
    state: Mutex<State>,
    /// Locked while the source is read, so that at most one reading runs at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
enum From {
    File(PathBuf),
    Address(Box<dyn Fetch>),
}

/// Fetches a set of keys. Tests replace the network by an implementation of their own.
trait Fetch: Debug + Send + Sync {
    /// Fetches the set.
    ///
    /// # Errors
    /// Why it cannot be had, for the operator.
    fn fetch(&self) -> Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send + '_>>;
}

/// An address and the client that asks it.
#[derive(Debug)]
struct Address(Uri, Fetcher);

impl Fetch for Address {
    fn fetch(&self) -> Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send + '_>> {
        Box::pin(self.1.get(&self.0, LARGEST))
    }
}

#[derive(Debug, Default)]
struct State {
    keys: Keys,
    /// Keys that are no longer in the set, with the time until which they hold.
    former: Vec<(Key, Instant)>,
    /// When the last reading began.
    tried: Option<Instant>,
    /// When the last reading began that succeeded.
    read: Option<Instant>,
    /// The modification time of the file when it was last read.
    changed: Option<SystemTime>,
    /// Why the last reading failed. It is logged only when it changes.
    failure: Option<String>,
}

impl Source {
    /// Reads the keys. An address that does not answer yet is asked again later.
    ///
    /// # Errors
    /// What is wrong with the source, for the operator.
    pub(super) async fn open(
        source: KeySource,
        root: Option<PathBuf>,
    ) -> Result<Arc<Self>, String> {
        match source {
            KeySource::File(file) => {
                let name = file.display().to_string();
                let keys = Source::new(From::File(file));
                keys.read().await.map_err(|why| format!("{name}: {why}"))?;
                Ok(keys)
            }
            KeySource::Address(address) => {
                let uri: Uri = address.parse().map_err(|_| format!("{address} is no address"))?;
                if uri.scheme_str() != Some("https") {
                    return Err(format!("{address}: keys are fetched over https:// only"));
                }
                let fetcher = Fetcher::new(root.as_deref(), false, DEADLINE)?;
                let keys = Source::new(From::Address(Box::new(Address(uri, fetcher))));
                if let Err(why) = keys.read().await {
                    let what = "keys for tokens cannot be fetched yet: nobody can join";
                    tracing::warn!(address, why, "{what}");
                    keys.state().failure = Some(why);
                }
                Ok(keys)
            }
        }
    }

    fn new(from: From) -> Arc<Self> {
        Arc::new(Source { from, state: Mutex::default(), turn: Arc::default() })
    }

    /// Finds the key that a token's header names; `None` if the source does not have it. A known
    /// key is returned at once. For an unknown one the source is read again, because the key may be
    /// new.
    ///
    /// # Errors
    /// It is unknown whether the key exists: the source cannot be read, or was read before this
    /// call and may not be read again yet.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
    ) -> Result<Option<Key>, &'static str> {
        let asked = Instant::now();
        let known = self.state().find(id, asked);
        let is_known = known.is_some();
        match &self.from {
            From::Address(_) if is_known => {
                self.refresh(asked);
                return Ok(known);
            }
            // A key that was removed from the file must not be used any more, so the file is
            // checked before its keys are used.
            From::File(_) if is_known && !self.state().may_read(LOOK_AGAIN, asked) => {
                return Ok(known);
            }
            From::File(_) | From::Address(_) => {}
        }
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let pause = match &self.from {
            From::File(_) => Duration::ZERO,
            From::Address(_) => AT_MOST_EVERY,
        };
        let reads = {
            let state = self.state();
            !state.was_read_since(asked) && state.may_read(pause, Instant::now())
        };
        if reads {
            let _ = self.read_in_a_task(turn).await;
        }
        let state = self.state();
        match state.find(id, Instant::now()) {
            None if !state.was_read_since(asked) => {
                Err("whether the token's key is a new one cannot be found out at present")
            }
            key => Ok(key),
        }
    }

    /// Fetches the keys again in the background if they are old.
    fn refresh(self: &Arc<Self>, now: Instant) {
        let state = self.state();
        let is_wanted = is_over(state.read, REFRESH, now) && state.may_read(AT_MOST_EVERY, now);
        drop(state);
        if is_wanted && let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            drop(self.read_in_a_task(turn));
        }
    }

    /// Reads the source in its own task, which continues if the client that caused it disconnects.
    /// The task holds `turn`, so at most one reading runs at a time.
    fn read_in_a_task(self: &Arc<Self>, turn: OwnedMutexGuard<()>) -> JoinHandle<()> {
        let source = Arc::clone(self);
        tokio::spawn(async move {
            let _turn = turn;
            let failure = source.read().await.err();
            let mut state = source.state();
            if let Some(why) = &failure
                && state.failure != failure
            {
                tracing::warn!(why, "keys for tokens cannot be read; those before hold");
            }
            state.failure = failure;
        })
    }

    async fn read(&self) -> Result<(), String> {
        let begun = Instant::now();
        let last = {
            let mut state = self.state();
            state.tried = Some(begun);
            state.changed
        };
        let (bytes, origin, changed) = match &self.from {
            From::File(file) => match read_file(file, last).await? {
                Some((bytes, changed)) => (bytes, Origin::File, Some(changed)),
                None => {
                    self.state().read = Some(begun);
                    return Ok(());
                }
            },
            From::Address(address) => (address.fetch().await?, Origin::Address, None),
        };
        let (keys, left_out) = Keys::parse(&bytes, origin)?;
        for why in left_out {
            tracing::warn!(why, "a key for tokens is left out");
        }
        tracing::info!(keys = keys.0.len(), "keys for tokens read");
        let mut state = self.state();
        state.replace(keys, Instant::now(), origin);
        state.read = Some(begun);
        state.changed = changed;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The content of a file and the time of its last change. `None` if that time is `last`.
async fn read_file(
    file: &Path,
    last: Option<SystemTime>,
) -> Result<Option<(Bytes, SystemTime)>, String> {
    let said = |error: std::io::Error| error.to_string();
    let about = tokio::fs::metadata(file).await.map_err(said)?;
    let changed = about.modified().map_err(said)?;
    if last == Some(changed) {
        return Ok(None);
    }
    if about.len() > LARGEST as u64 {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    Ok(Some((tokio::fs::read(file).await.map_err(said)?.into(), changed)))
}

/// True if `time` has passed since `since`, or if `since` is `None`.
fn is_over(since: Option<Instant>, time: Duration, now: Instant) -> bool {
    since.is_none_or(|since| now >= since + time)
}

impl State {
    /// The key with this name, if it is still valid.
    fn find(&self, id: Option<&str>, now: Instant) -> Option<Key> {
        if is_over(self.read, STALE, now) {
            return None;
        }
        let former = || {
            let of_id = |(key, until): &&(Key, Instant)| {
                id.is_some() && key.id.as_deref() == id && now < *until
            };
            self.former.iter().find(of_id).map(|(key, _)| key)
        };
        self.keys.find(id).or_else(former).cloned()
    }

    /// True if the last reading began at least `pause` ago.
    fn may_read(&self, pause: Duration, now: Instant) -> bool {
        is_over(self.tried, pause, now)
    }

    /// True if a reading has succeeded that began after `asked`: a key that it did not find is not
    /// in the set.
    fn was_read_since(&self, asked: Instant) -> bool {
        self.read.is_some_and(|read| read >= asked)
    }

    fn replace(&mut self, keys: Keys, now: Instant, origin: Origin) {
        self.former.retain(|(_, until)| now < *until);
        // A key that was removed from a file must not be used any more.
        if origin == Origin::Address {
            let gone = self.keys.0.iter().filter(|key| keys.find(key.id.as_deref()).is_none());
            self.former.extend(gone.map(|key| (key.clone(), now + KEPT)));
        }
        self.keys = keys;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::{advance, pause, sleep};

    use super::*;

    /// An address whose answers the test sets.
    #[derive(Debug, Default)]
    struct Site {
        /// `None`: there is no answer.
        answer: Mutex<Option<String>>,
        asked: AtomicUsize,
        /// An answer takes this long.
        delay: Duration,
    }

    impl Site {
        fn answers(&self, keys: &[&str]) {
            *self.answer.lock().unwrap() = Some(set(keys));
        }

        fn is_down(&self) {
            *self.answer.lock().unwrap() = None;
        }

        /// How many times it was asked.
        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    impl Fetch for Arc<Site> {
        fn fetch(&self) -> Pin<Box<dyn Future<Output = Result<Bytes, String>> + Send + '_>> {
            Box::pin(async {
                self.asked.fetch_add(1, Ordering::Relaxed);
                sleep(self.delay).await;
                let answer = self.answer.lock().unwrap().clone();
                answer.map(Bytes::from).ok_or_else(|| "no answer".to_owned())
            })
        }
    }

    /// A set of keys with these names. The values are those of RFC 8037, appendix A.2.
    fn set(names: &[&str]) -> String {
        let key = |name| {
            format!(
                r#"{{"kty":"OKP","crv":"Ed25519","kid":"{name}","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}"#
            )
        };
        let keys: Vec<String> = names.iter().map(key).collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }

    async fn at(site: &Arc<Site>) -> Arc<Source> {
        pause();
        let source = Source::new(From::Address(Box::new(Arc::clone(site))));
        source.read().await.unwrap();
        source
    }

    /// Whether the key is known; `Err` if that cannot be told now.
    async fn has(source: &Arc<Source>, id: &str) -> Result<bool, &'static str> {
        source.find(Some(id)).await.map(|key| key.is_some())
    }

    /// The same, asked a second later.
    async fn has_later(source: &Arc<Source>, id: &str) -> Result<bool, &'static str> {
        sleep(Duration::from_secs(1)).await;
        has(source, id).await
    }

    async fn pass(seconds: u64) {
        advance(Duration::from_secs(seconds)).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test]
    async fn a_new_key_is_not_refused_before_the_address_could_be_asked() {
        let site = Arc::new(Site::default());
        site.answers(&["a"]);
        let source = at(&site).await;
        site.answers(&["b"]);
        pass(3).await;
        assert!(has(&source, "b").await.is_err(), "the address was asked just now");
        assert_eq!(site.asked(), 1);
        pass(8).await;
        assert_eq!(has(&source, "b").await, Ok(true));
        assert_eq!(has(&source, "a").await, Ok(true), "the key before holds for a time");
        pass(11).await;
        assert_eq!(has(&source, "invented").await, Ok(false));
        pass(1).await;
        assert!(has(&source, "another").await.is_err());
        assert_eq!(site.asked(), 3, "invented keys cost the address nothing");
        pass(600).await;
        assert_eq!(has(&source, "a").await, Ok(false));
    }

    #[tokio::test]
    async fn no_key_is_refused_while_the_address_does_not_answer() {
        let site = Arc::new(Site::default());
        site.answers(&["a"]);
        let source = at(&site).await;
        site.is_down();
        pass(60).await;
        assert!(has(&source, "b").await.is_err());
        assert_eq!(has(&source, "a").await, Ok(true));
        pass(24 * 3600).await;
        assert!(has(&source, "a").await.is_err(), "the last answer is too old");
        site.answers(&["b"]);
        pass(11).await;
        assert_eq!(has(&source, "b").await, Ok(true));
    }

    #[tokio::test]
    async fn whoever_has_a_known_key_does_not_wait_for_the_address() {
        let site = Arc::new(Site { delay: Duration::from_secs(4), ..Site::default() });
        site.answers(&["a"]);
        let source = at(&site).await;
        site.answers(&["b"]);
        pass(301).await;
        let begun = Instant::now();
        let (new, known) = tokio::join!(has(&source, "b"), async {
            let known = has(&source, "a").await;
            (known, begun.elapsed())
        });
        assert_eq!(known, (Ok(true), Duration::ZERO));
        assert_eq!((new, begun.elapsed().as_secs()), (Ok(true), 4), "an unknown key waits");
        assert_eq!(site.asked(), 2);

        pass(301).await;
        site.answers(&["c"]);
        let begun = Instant::now();
        assert_eq!(has(&source, "b").await, Ok(true));
        assert_eq!(begun.elapsed(), Duration::ZERO);
        pass(5).await;
        assert_eq!((has(&source, "c").await, site.asked()), (Ok(true), 3), "read meanwhile");
    }

    #[tokio::test]
    async fn who_asks_while_the_address_is_asked_waits_for_its_answer_and_a_key_that_it_lacks_may_be_newer()
     {
        let site = Arc::new(Site { delay: Duration::from_secs(4), ..Site::default() });
        site.answers(&["a"]);
        let source = at(&site).await;
        site.answers(&["b"]);
        pass(60).await;
        let (first, second, third) =
            tokio::join!(has(&source, "b"), has_later(&source, "b"), has_later(&source, "c"));
        assert_eq!((first, second, site.asked()), (Ok(true), Ok(true), 2));
        assert!(third.is_err(), "the answer may be older than the key");
    }

    #[tokio::test]
    async fn a_client_that_goes_away_does_not_stop_the_reading_that_others_need() {
        let site = Arc::new(Site { delay: Duration::from_secs(4), ..Site::default() });
        site.answers(&["a"]);
        let source = at(&site).await;
        site.answers(&["b"]);
        pass(60).await;
        let gone = tokio::time::timeout(Duration::from_secs(1), has(&source, "invented")).await;
        assert!(gone.is_err());
        assert_eq!((has(&source, "b").await, site.asked()), (Ok(true), 2));
    }

    #[tokio::test]
    async fn a_file_that_could_not_be_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        std::fs::write(&file, set(&["a"])).unwrap();
        let source = Source::open(KeySource::File(file.clone()), None).await.unwrap();
        assert_eq!(has(&source, "a").await, Ok(true));
        // A file that could not be read is read again, even if its modification time is the same.
        std::fs::write(&file, "half a set").unwrap();
        let changed = std::fs::metadata(&file).unwrap().modified().unwrap();
        assert!(has(&source, "b").await.is_err());
        std::fs::write(&file, set(&["b"])).unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(changed).unwrap();
        assert_eq!(has(&source, "b").await, Ok(true));
        assert_eq!(
            has(&source, "a").await,
            Ok(false),
            "whoever takes a key out of a file means it"
        );
    }
}
