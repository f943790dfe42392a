//! Users and tokens that the administration has banned, whatever the authenticator says (wire W98).

mod file;
mod rule;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Refusal;
use crate::error::Error;
use file::BanFile;
use rule::unix;
pub(crate) use rule::{Ban, NewBan, Pass};

/// The most bans at a time. A login service that refuses a user is the place for more.
const MOST: usize = 10_000;

/// All bans of a server.
#[derive(Debug)]
pub(crate) struct Bans {
    list: RwLock<List>,
    /// The file that stores the bans; `None` if they end with the server. Locked while it is
    /// written, so that the newest list is written last.
    file: Mutex<Option<BanFile>>,
    /// Changes whenever the list changes, so that every connection is checked again.
    changed: watch::Sender<()>,
}

/// The bans, indexed by the user or token that they name.
#[derive(Debug, Default)]
struct List {
    next: u64,
    bans: HashMap<Named, Vec<Ban>>,
    count: usize,
}

/// The user or token that a ban names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Named {
    User(String),
    Token(String),
}

/// A change of the bans, as servers that share them tell each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BanChange {
    Ban(Ban),
    /// The ban of this number is removed.
    Unban(u64),
    /// The list of bans is replaced by this one.
    All {
        /// The number of the next ban.
        next: u64,
        bans: Vec<Ban>,
    },
}

/// Why the list of bans is not changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotChanged {
    /// The request is wrong.
    Wrong(&'static str),
    TooMany,
    /// There is no ban of this number.
    Unknown,
    /// The changes so far are in force, and will be undone when the server starts again, because
    /// the file cannot be written.
    NotStored(String),
    /// The servers share their bans, and it is not known whether they share this change.
    NotShared(String),
}

impl Bans {
    /// Reads the bans in `folder`, whose store this process has locked. Without a folder, bans end
    /// with the server.
    ///
    /// # Errors
    /// [`Error::Bans`] if the file cannot be read: without it banned users would be let in.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, Error> {
        let file = folder.map(BanFile::of);
        let mut list = List { next: 1, ..List::default() };
        if let Some(file) = &file {
            let path = || file.path().to_owned();
            let (next, bans) =
                file.load().map_err(|reason| Error::Bans { path: path(), reason })?;
            list.next = next;
            bans.into_iter().for_each(|ban| list.insert(ban));
        }
        let changed = watch::Sender::new(());
        Ok(Bans { list: RwLock::new(list), file: Mutex::new(file), changed })
    }

    /// A receiver that is notified of each later change of the bans.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// # Errors
    /// Why a client may not be in the room.
    pub(crate) fn check(&self, room: &str, pass: Option<&Pass>) -> Result<(), Refusal> {
        let Some(pass) = pass else { return Ok(()) };
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        if list.count == 0 {
            return Ok(());
        }
        let now = unix(SystemTime::now());
        let of_token = pass.token.as_ref().and_then(|token| list.of(Named::Token(token.clone())));
        let of_user = list.of(Named::User(pass.user.clone()));
        let bans = [of_user, of_token].into_iter().flatten().flatten();
        let mut refusals = bans.filter_map(|ban| ban.refuses(room, pass, now));
        // Prefers `Refusal::Banned` to `Refusal::Revoked`: another token does not help a banned
        // user.
        let first = refusals.next();
        match refusals.find(|refusal| matches!(refusal, Refusal::Banned(_))).or(first) {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    /// All bans whose time is not over, by number.
    pub(crate) fn all(&self) -> Vec<Ban> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.all(unix(SystemTime::now()))
    }

    /// Adds a ban, and closes the connections that it meets. It is in force at once, whatever the
    /// disk does; [`Bans::store`] then stores it.
    ///
    /// # Errors
    /// There is no new ban.
    pub(crate) fn add(&self, wanted: NewBan) -> Result<Ban, NotChanged> {
        let now = unix(SystemTime::now());
        self.change(|list| {
            list.drop_over(now);
            if list.count >= MOST {
                return Err(NotChanged::TooMany);
            }
            let ban = Ban::new(list.next, now, wanted).map_err(NotChanged::Wrong)?;
            list.next += 1;
            list.insert(ban.clone());
            Ok(ban)
        })
    }

    /// The ban that [`Bans::add`] would add. It is not added.
    ///
    /// # Errors
    /// There would be no new ban.
    pub(crate) fn new_ban(&self, wanted: NewBan) -> Result<Ban, NotChanged> {
        let now = unix(SystemTime::now());
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        if list.all(now).len() >= MOST {
            return Err(NotChanged::TooMany);
        }
        Ban::new(list.next, now, wanted).map_err(NotChanged::Wrong)
    }

    /// True if there is a ban of this number.
    pub(crate) fn has(&self, id: u64) -> bool {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.bans.values().flatten().any(|ban| ban.id == id)
    }

    /// The change that makes these bans of any others, without those whose time is over.
    pub(crate) fn as_change(&self) -> BanChange {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        BanChange::All { next: list.next, bans: list.all(unix(SystemTime::now())) }
    }

    /// Carries out a change that all servers carry out.
    pub(crate) fn apply(&self, change: BanChange) {
        self.list.write().unwrap_or_else(PoisonError::into_inner).apply(change);
        self.changed.send_replace(());
    }

    /// Replaces all bans by those that these changes make.
    pub(crate) fn replace(&self, changes: Vec<BanChange>) {
        let mut list = List { next: 1, ..List::default() };
        changes.into_iter().for_each(|change| list.apply(change));
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = list;
        self.changed.send_replace(());
    }

    /// Removes a ban at once. [`Bans::store`] then stores the change.
    ///
    /// # Errors
    /// [`NotChanged::Unknown`] if no ban has this number.
    pub(crate) fn remove(&self, id: u64) -> Result<(), NotChanged> {
        self.change(|list| list.remove(id).then_some(()).ok_or(NotChanged::Unknown))
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut List) -> Result<T, NotChanged>,
    ) -> Result<T, NotChanged> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut list)?;
        drop(list);
        self.changed.send_replace(());
        Ok(changed)
    }

    /// Stores all changes so far. This blocks, for as long as the disk takes.
    ///
    /// # Errors
    /// [`NotChanged::NotStored`] if the changes are in force only until the server restarts.
    pub(crate) fn store(&self) -> Result<(), NotChanged> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &*file else { return Ok(()) };
        let (next, bans) = {
            let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
            (list.next, list.all(unix(SystemTime::now())))
        };
        file.save(next, bans).map_err(|error| {
            let path = file.path().display();
            tracing::error!(%path, %error, "bans not stored");
            NotChanged::NotStored(format!("{path}: {error}"))
        })
    }
}

impl List {
    fn of(&self, named: Named) -> Option<&Vec<Ban>> {
        self.bans.get(&named)
    }

    fn all(&self, now: u64) -> Vec<Ban> {
        let bans = self.bans.values().flatten().filter(|ban| !ban.is_over(now));
        let mut bans: Vec<_> = bans.cloned().collect();
        bans.sort_unstable_by_key(|ban| ban.id);
        bans
    }

    fn insert(&mut self, ban: Ban) {
        let named = match (&ban.user, &ban.token) {
            (Some(user), _) => Named::User(user.clone()),
            (None, token) => Named::Token(token.clone().unwrap_or_default()),
        };
        self.next = self.next.max(ban.id + 1);
        self.bans.entry(named).or_default().push(ban);
        self.count += 1;
    }

    fn apply(&mut self, change: BanChange) {
        match change {
            BanChange::Ban(ban) => {
                self.drop_over(unix(SystemTime::now()));
                self.insert(ban);
            }
            BanChange::Unban(id) => drop(self.remove(id)),
            BanChange::All { next, bans } => {
                *self = List { next, ..List::default() };
                bans.into_iter().for_each(|ban| self.insert(ban));
            }
        }
    }

    fn remove(&mut self, id: u64) -> bool {
        let before = self.count;
        self.retain(|ban| ban.id != id);
        self.count < before
    }

    fn drop_over(&mut self, now: u64) {
        self.retain(|ban| !ban.is_over(now));
    }

    fn retain(&mut self, keep: impl Fn(&Ban) -> bool) {
        self.bans.retain(|_, bans| {
            bans.retain(&keep);
            !bans.is_empty()
        });
        self.count = self.bans.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_user(user: &str) -> NewBan {
        NewBan { user: Some(user.into()), room: "*".into(), ..NewBan::default() }
    }

    fn pass(user: &str, token: &str) -> Option<Pass> {
        Some(Pass { user: user.into(), token: Some(token.into()), issued: Some(1000) })
    }

    #[test]
    fn a_ban_meets_whom_it_names_and_nobody_else() {
        let bans = Bans::open(None).unwrap();
        let check = |user, token| bans.check("demo", pass(user, token).as_ref());
        let banned = Err(Refusal::Banned("for good".into()));
        let ban = bans.add(of_user("ann")).unwrap();
        bans.add(NewBan { token: Some("t2".into()), user: None, ..of_user("") }).unwrap();
        assert_eq!((check("ann", "t1"), check("ben", "t1")), (banned.clone(), Ok(())));
        assert_eq!(check("ben", "t2"), Err(Refusal::Revoked));
        assert_eq!(check("t2", "ann"), Ok(()), "names of tokens are no users");
        assert_eq!(check("ann", "t2"), banned, "another token does not help her");
        assert_eq!(bans.check("demo", None), Ok(()));
        bans.remove(ban.id).unwrap();
        assert_eq!(check("ann", "t1"), Ok(()));
        assert_eq!(bans.remove(ban.id), Err(NotChanged::Unknown));
        assert_eq!(bans.all().len(), 1);
    }

    #[test]
    fn connections_are_told_of_each_change() {
        let bans = Bans::open(None).unwrap();
        let mut changes = bans.changes();
        assert!(!changes.has_changed().unwrap());
        bans.add(of_user("ann")).unwrap();
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        bans.add(NewBan::default()).unwrap_err();
        assert!(!changes.has_changed().unwrap());
    }

    #[test]
    fn there_are_no_more_than_the_limit() {
        let bans = Bans::open(None).unwrap();
        for number in 0..MOST {
            bans.list
                .write()
                .unwrap()
                .insert(Ban::new(number as u64, 0, of_user(&number.to_string())).unwrap());
        }
        assert_eq!(bans.add(of_user("ann")).unwrap_err(), NotChanged::TooMany);
        // Bans whose time is over make room for new ones.
        let over = Ban::new(1, 0, NewBan { seconds: Some(1), ..of_user("0") }).unwrap();
        bans.list.write().unwrap().bans.insert(Named::User("0".into()), vec![over]);
        bans.add(of_user("ann")).unwrap();
    }

    #[test]
    fn bans_and_their_numbers_outlast_the_server_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Bans::open(Some(folder.path())).unwrap();
        let bans = open();
        bans.add(of_user("ann")).unwrap();
        let last = bans.add(of_user("ben")).unwrap();
        bans.remove(last.id).unwrap();
        bans.store().unwrap();
        let again = open();
        assert_eq!(again.all(), bans.all());
        assert_eq!(again.add(of_user("cy")).unwrap().id, last.id + 1);
        let damaged = folder.path().join("bans.json");
        for wrong in ["{", r#"{"format":2,"next":1,"bans":[]}"#] {
            std::fs::write(&damaged, wrong).unwrap();
            let error = Bans::open(Some(folder.path())).unwrap_err().to_string();
            assert!(error.contains("bans.json"), "{error}");
        }
        // A ban that cannot be stored is in force all the same.
        std::fs::remove_file(&damaged).unwrap();
        std::fs::create_dir(&damaged).unwrap();
        bans.add(of_user("dan")).unwrap();
        assert!(matches!(bans.store(), Err(NotChanged::NotStored(_))));
        assert!(bans.check("demo", pass("dan", "t").as_ref()).is_err());
    }

    #[test]
    fn a_ban_does_not_wait_for_a_disk_that_stores_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let bans = Bans::open(Some(folder.path())).unwrap();
        let disk = bans.file.lock().unwrap();
        bans.add(of_user("ann")).unwrap();
        assert!(bans.check("demo", pass("ann", "t").as_ref()).is_err());
        drop(disk);
        bans.store().unwrap();
        assert_eq!(Bans::open(Some(folder.path())).unwrap().all(), bans.all());
    }
}
