//! A server whose disk damages its copy of the rooms.

use std::fs;
use std::path::Path;

use super::folder;
use super::member::Member;
use super::nats::Nats;
use crate::durable::visitor::Visitor;

/// The engine has the whole room, so no client gets a gap event.
#[tokio::test]
async fn a_server_whose_copy_is_damaged_makes_it_again_and_nothing_is_lost() {
    let folder = folder("damaged");
    let Some(nats) = Nats::start(folder.join("nats"), true) else { return };
    let mut member = Member::new("a", &folder, &nats.options());
    member.start();
    let url = format!("ws://127.0.0.1:{}", member.port());
    let lines: Vec<String> = (0..20).map(|line| format!("this is line {line}")).collect();
    let mut ada = Visitor::join(&url, "plan").await;
    lines.iter().for_each(|line| ada.say(line));
    assert_eq!(ada.hear(lines.len()).await, lines);
    let kept = folder.join("a/rooms.damaged");

    // The write-ahead log seems to be torn there, and what is missing comes from the engine.
    member.kill();
    damage(&folder.join("a/rooms.db-wal"), "line 7");
    member.start();
    assert_eq!(Visitor::join(&url, "plan").await.hear(lines.len()).await, lines);
    assert!(!kept.exists());

    // In a room, it is noticed when somebody joins: the server ends, and is started again.
    member.stop();
    damage(&folder.join("a/rooms.db"), "line 7");
    member.start();
    let mut carol = tokio::spawn(async move {
        let mut carol = Visitor::join(&url, "plan").await;
        (carol.hear(20).await.into_iter().map(str::to_owned).collect::<Vec<_>>(), carol.gaps)
    });
    let ending = tokio::task::spawn_blocking(move || (member.ends(), member));
    tokio::select! {
        heard = &mut carol => panic!("the damage was not noticed: {heard:?}"),
        ended = ending => {
            let (said, mut member) = ended.unwrap();
            assert!(said.contains("is damaged"), "{said}");
            member.start();
            assert_eq!(carol.await.unwrap(), (lines, 0));
            assert!(kept.exists());
        }
    }
    ada.until(|ada| !ada.is_away()).await;
    assert_eq!(ada.gaps, 0);
}

/// Changes a byte of each copy of this text in a file.
fn damage(file: &Path, text: &str) {
    let mut bytes = fs::read(file).unwrap();
    let starts = |&at: &usize| bytes[at..].starts_with(text.as_bytes());
    let places: Vec<usize> = (0..bytes.len()).filter(starts).collect();
    assert!(!places.is_empty(), "{text:?} is not in the file");
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(file, bytes).unwrap();
}
