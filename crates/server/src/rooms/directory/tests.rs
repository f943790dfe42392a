use futures_util::FutureExt;
use groupwire_session::room::Stats;
use tokio::sync::mpsc;

use super::*;
use crate::figures::events::Closing;
use crate::server::config::Config;
use crate::server::services::Services;

#[tokio::test]
async fn figures_do_not_wait_for_a_room_that_is_being_loaded() {
    let Services { rooms: directory, .. } = Services::new(Config::default(), None, None).unwrap();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    directory.rooms().insert("slow", sender);
    let (rooms, _) = directory.stats().now_or_never().expect("there is an answer at once");
    assert_eq!((rooms, directory.names()), (1, Vec::new()));
    directory.rooms().set_ready("slow");
    assert_eq!(directory.names(), ["slow"]);
    assert!(directory.stats().now_or_never().is_none());
    assert!(matches!(receiver.try_recv(), Ok(Message::Stats { .. })));
}

#[tokio::test]
async fn a_room_that_closes_leaves_its_counters_and_makes_place() {
    let Services { rooms: directory, .. } = Services::new(Config::default(), None, None).unwrap();
    let (sender, mut waiting) = mpsc::unbounded_channel();
    directory.rooms().insert("demo", sender.clone());
    let stats = Stats { joins: 3, here: 2, ..Stats::default() };
    let now = Leave::Now(Closing::Unused, stats);
    sender.send(Message::MakeWay).unwrap();
    assert!(!directory.leave("demo", &waiting, now), "a message waits for it");
    waiting.try_recv().unwrap();
    assert!(directory.leave("demo", &waiting, now));
    let (rooms, totals) = directory.stats().await;
    assert_eq!((rooms, totals.joins, totals.here), (0, 3, 0));
}
