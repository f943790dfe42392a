//! Whatever others send, nothing panics and nothing grows without limits.

use std::convert::Infallible;

use groupwire_shared::{Definitions, Gap, Input, Json, Link, Operation, Shared, Taken};

/// A room that takes everything.
#[derive(Default)]
struct Anywhere(Vec<String>);

impl Link for Anywhere {
    type Error = Infallible;

    fn send(&mut self, operation: &str) -> Result<Taken, Infallible> {
        self.0.push(operation.to_owned());
        Ok(Taken::Yes)
    }

    fn preview(&mut self, _key: &str, _text: &str) {}
}

fn open(author: &str) -> Shared<Anywhere> {
    Shared::new(author, Definitions::new(), Anywhere::default())
}

fn deliver(data: &mut Shared<Anywhere>, text: &str) {
    data.handle_input(Input::Message { sender: 7, text: Some(text) });
    while data.poll_event().is_some() {}
}

#[test]
fn values_that_are_nested_too_deeply_or_that_json_lacks_have_no_effect() {
    let mut data = open("me");
    data.map("shapes").set("one", Json::object([("x", 1.into())])).unwrap();
    let before = data.state();
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let wrong = [
        format!(r#""shapes","s","two",{deep}"#),
        format!(r#""shapes","p","one",{{"y":{deep}}}"#),
        format!(r#""shapes","r","one",{deep},0"#),
        format!(r#""shapes","q","one",{{"y":[0,"s",{deep}]}}"#),
        format!(r#""texts","i","V",{deep}"#),
        r#""shapes","s","two",1e400"#.to_owned(),
        r#""shapes","p","one",{"y":-1e400}"#.to_owned(),
        r#""shapes","s","two",{"x":[1e400]}"#.to_owned(),
        r#""likes","+",{"toString":1,"valueOf":1}"#.to_owned(),
        r#""likes","+",9007199254740992"#.to_owned(),
        r#""shapes","r","one","me.1",["s",1,1,{"x":{"toString":1},"y":2}]"#.to_owned(),
    ];
    for (at, one) in wrong.iter().enumerate() {
        let text = format!(r#"["hostile",{},{one}]"#, at + 1);
        assert!(Operation::parse(&text).is_ok(), "{one} is an operation");
        deliver(&mut data, &text);
        assert_eq!(data.state(), before, "{one}");
    }
}

#[test]
fn every_state_can_come_back() {
    // Somebody brings back a state in which the numbers of an author are as great as they may be,
    // and goes on from there.
    let mut data = open("me");
    let state = r#"[[[["cscore",[["",5]]]],[]],[["h",4503599627370496]]]"#;
    deliver(
        &mut data,
        &Json::from_iter([
            "x".into(),
            1.into(),
            1.into(),
            9.into(),
            0.into(),
            1.into(),
            state.into(),
        ])
        .to_string(),
    );
    deliver(&mut data, r#"["h",4503599627370497,"score","+",1]"#);
    assert_eq!(data.counter("score").value(), 6);
    data.handle_input(Input::Gap(Gap::Incarnation));
    assert!(data.is_restoring());
    data.handle_input(Input::Synced);
    let claim = data.link_mut().0.pop().unwrap();
    data.handle_input(Input::Participants {
        me: Some(7),
        others: &Default::default(),
        is_connected: true,
    });
    deliver(&mut data, &claim);
    let pieces = std::mem::take(&mut data.link_mut().0);
    assert_eq!(pieces.len(), 1);
    let mut late = open("late");
    for each in [&mut data, &mut late] {
        deliver(each, &pieces[0]);
        assert_eq!((each.counter("score").value(), each.is_restoring()), (6, false));
    }
    let snapshot = late.snapshot().unwrap();
    let mut later = open("later");
    later.handle_input(Input::Snapshot(snapshot.as_bytes()));
    assert_eq!((later.is_complete(), later.counter("score").value()), (true, 6));
}

#[test]
fn states_that_are_never_completed_keep_no_more_than_four_and_no_snapshot_from_being_made() {
    let mut data = open("me");
    let state = r#"[[[["mshapes",[["one",["h.1",1]]]]],[]],[]]"#;
    let piece = |author: &str, index: usize| {
        let text = if index == 0 { &state[..9] } else { &state[9..] };
        let parts = [
            author.into(),
            1.into(),
            1.into(),
            100.into(),
            (index as u32).into(),
            2.into(),
            text.into(),
        ];
        Json::from_iter(parts).to_string()
    };
    for author in ["a", "b", "c", "d", "e"] {
        deliver(&mut data, &piece(author, 0));
    }
    assert_eq!(data.snapshot(), None);
    deliver(&mut data, &piece("a", 1));
    assert_eq!(data.map("shapes").get("one"), None);
    deliver(&mut data, &piece("b", 1));
    assert_eq!(data.map("shapes").get("one"), Some(1.into()));
}

#[test]
fn items_fit_everywhere_in_a_list_although_others_have_made_up_places() {
    let mut data = open("me");
    let places = ["", "0", "!", "V0", "V00", "zzzzz", "Vé"].map(str::to_owned);
    let long = ["0".repeat(900) + "1", "0".repeat(50_000) + "1", "z".repeat(1200)];
    for (at, place) in places.iter().chain(&long).enumerate() {
        deliver(&mut data, &format!(r#"["hostile",{},"texts","i","{place}",{at}]"#, at + 1));
    }
    let count = places.len() + long.len();
    for round in 0..60 {
        let before = data.list("texts").values();
        assert_eq!(before.len(), count + round);
        let index = [0, before.len(), 1 + round % (before.len() - 1)][round % 3];
        let value = Json::from(format!("{round} at {index}"));
        data.list("texts").insert(index, value.clone()).unwrap();
        let mut after = data.list("texts").values();
        let at = after.iter().position(|other| *other == value).expect("the new item is there");
        after.remove(at);
        assert_eq!(after, before, "the others keep their order");
        let sent = data.link_mut().0.pop().unwrap();
        // The places of others that left no room have moved with the first insertions beside them.
        assert!(round < 20 || sent.len() < 100, "{sent}");
        deliver(&mut data, &sent);
    }
}

#[test]
fn any_bytes_and_damaged_messages_do_no_harm() {
    let recorded = include_str!("../vectors/sessions.jsonl");
    let messages: Vec<String> = recorded
        .lines()
        .filter_map(|line| {
            let json = Json::parse(line).unwrap();
            let step = json.at(2)?;
            (step.at(0)?.as_str()? == "message").then(|| step.at(2)?.as_str().map(str::to_owned))?
        })
        .collect();
    assert!(messages.len() > 300, "recorded sessions have messages");
    let mut state = 1_u32;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % limit.max(1)
    };
    let mut data = open("p0");
    for round in 0..20_000 {
        let mut bytes = messages[below(messages.len())].clone().into_bytes();
        for _ in 0..below(4) {
            let at = below(bytes.len());
            match below(4) {
                0 => drop(bytes.splice(at..at, *b"\\ud83d")),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, b"[]{}\",:0e-"[below(10)]),
                _ => bytes.extend_from_within(at..),
            }
            bytes.truncate(2000);
        }
        deliver(&mut data, &String::from_utf8_lossy(&bytes));
        match round % 500 {
            0 => data.handle_input(Input::Gap(Gap::Incarnation)),
            1 => data.handle_input(Input::Gap(Gap::Reset)),
            2 => data.handle_input(Input::Snapshot(&bytes)),
            3 => drop(data.undo()),
            4 => drop(data.list("texts").push(round)),
            _ => {}
        }
    }
}
