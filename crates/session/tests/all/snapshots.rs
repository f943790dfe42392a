//! Snapshots and cut logs, in cases that were once faults: answers that come late or cross a break,
//! channels opened late, frames that bodies must not overtake.

use std::time::Duration;

use groupwire_session::client::{Client, Config as ClientConfig, Event, Input, Outgoing, Output};
use groupwire_session::room::{self, Room};
use groupwire_session::{AllowAll, Limits, LinkId, Opening, Qos};

use crate::support::secrets::Drawn;
use crate::support::{MS, World, errors, tight};

const DRAW: Qos = Qos::transaction();

#[test]
fn a_snapshot_is_asked_of_one_who_knows_all() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    // Ann has not opened "b", the channel of the documents of the others.
    world.channel(ann, "a", DRAW);
    let b = world.channel(bob, "b", DRAW);
    world.channel(bob, "a", DRAW);
    world.run(1000 * MS);
    for n in 0..600 {
        world.send(bob, b, &format!("b{n}"));
        world.run(5 * MS);
    }
    world.settle();
    let cat = world.add();
    world.channel(cat, "b", DRAW);
    world.channel(cat, "a", DRAW);
    world.settle();
    assert!(world.people[cat].saw(|event| matches!(event, Event::Snapshot { .. })));
    assert_eq!(world.people[cat].document.len(), 600);
}

#[test]
fn a_channel_opened_after_the_log_was_cut_is_told() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    let d = world.channel(ann, "draw", DRAW);
    world.channel(bob, "other", DRAW);
    world.run(1000 * MS);
    for n in 0..600 {
        world.send(ann, d, &format!("{n}"));
        world.run(5 * MS);
    }
    world.settle();
    let bd = world.channel(bob, "draw", DRAW);
    world.settle();
    let got = world.people[bob].texts(bd).len();
    let snap = world.people[bob].saw(|e| matches!(e, Event::Snapshot { .. }));
    assert!(
        got == 600 || snap || world.people[bob].holes > 0,
        "got {got} of 600, no snapshot, no gap; synced {}",
        world.people[bob].saw(|e| *e == Event::Synced { channel: Some(bd) })
    );
}

#[test]
fn a_late_snapshot_costs_nothing() {
    let mut world = World::new(1, room::Config { limits: tight(), ..room::Config::new("demo", 7) });
    let (ann, bob) = (world.add(), world.add());
    let d = world.channel(ann, "draw", DRAW);
    world.channel(bob, "draw", DRAW);
    world.run(1000 * MS);
    world.people[ann].delay = 3000 * MS; // a slow path; dead is 5 s
    for n in 0..41 {
        world.send(bob, d, &format!("{n}"));
        world.run(5 * MS);
    }
    world.run(20_000 * MS);
    assert!(errors(&world, ann).is_empty(), "{:?}", errors(&world, ann));
}

#[test]
fn a_gap_is_told_before_what_follows_it() {
    let limits = Limits {
        max_log_bytes: 20_000,
        snapshot_after: usize::MAX,
        snapshot_after_bytes: usize::MAX,
        ..Limits::default()
    };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = world.add();
    let names: Vec<String> =
        (0..41).map(|n| format!("a channel with some name number {n:03}")).collect();
    let d = world.channel(ann, &names[0], DRAW);
    world.run(500 * MS);
    for n in 0..500 {
        world.send(ann, d, &format!("{n}"));
        world.run(5 * MS);
    }
    let bob = world.add();
    let bd = world.channel(bob, &names[0], DRAW);
    for n in &names[1..] {
        world.channel(bob, n, DRAW);
    }
    world.run(3000 * MS);
    world.send(ann, d, "last");
    world.run(500 * MS);
    world.cut(bob);
    world.run(10_000 * MS);
    let texts = world.people[bob].texts(bd);
    let mut unique = texts.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(texts.len(), unique.len(), "repeated");
    assert_eq!(world.people[bob].client.position(), world.people[ann].client.position());
}

#[test]
fn a_channel_opened_while_the_snapshot_comes() {
    let limits = Limits { snapshot_after: 100, snapshot_after_bytes: 1 << 20, ..Limits::default() };
    let mut world = World::new(1, room::Config { limits, ..room::Config::new("demo", 7) });
    let ann = world.add();
    let d = world.channel(ann, "draw", DRAW);
    world.run(500 * MS);
    for _ in 0..40 {
        world.send(ann, d, &"x".repeat(30_000));
        world.run(50 * MS);
    }
    world.settle();
    let bob = world.add();
    world.people[bob].delay = 50 * MS;
    world.channel(bob, "draw", DRAW);
    world.run(400 * MS);
    let late = world.channel(bob, "late", DRAW);
    world.run(5000 * MS);
    assert!(world.people[bob].saw(|e| matches!(e, Event::Snapshot { .. })));
    assert!(world.people[bob].saw(|e| *e == Event::Synced { channel: None }));
    assert!(
        world.people[bob].saw(|e| matches!(e, Event::Opened { channel, .. } if *channel == late))
    );
    assert!(world.people[bob].saw(|e| *e == Event::Synced { channel: Some(late) }), "never synced");
}

struct Wire {
    link: u64,
    up: usize,
}

fn pump(
    now: Duration,
    c: &mut Client,
    r: &mut Room,
    w: &mut Wire,
    budget: usize,
    errs: &mut Vec<String>,
) {
    for _ in 0..100_000 {
        let mut idle = true;
        match c.poll_output(now) {
            Output::Timeout(_) => {}
            Output::Dial => {
                idle = false;
                w.link += 1;
                w.up = 0;
                c.handle_input(now, Input::Opened { max_datagram: 0 });
            }
            Output::Datagram(_) => {}
            Output::Send(p) => {
                idle = false;
                if w.up < budget {
                    w.up += 1;
                    if w.up == 1 {
                        let o = Opening::read(&p).unwrap();
                        let secrets = &Drawn::default();
                        r.handle_input(
                            now,
                            room::Input::Join {
                                link: LinkId(w.link),
                                opening: &o,
                                identity: &Default::default(),
                                secrets,
                                max_datagram: 0,
                            },
                        );
                    } else {
                        r.handle_input(
                            now,
                            room::Input::Packet { link: LinkId(w.link), packet: &p },
                        );
                    }
                    c.handle_input(now, Input::Sent);
                }
            }
            Output::Hangup => {
                idle = false;
                r.handle_input(now, room::Input::Closed { link: LinkId(w.link) });
                c.handle_input(now, Input::Closed);
            }
            Output::Event(Event::Error { error, .. }) => {
                idle = false;
                errs.push(error.to_string());
            }
            Output::Event(Event::SnapshotWanted { part, as_of }) => {
                idle = false;
                c.snapshot(&part, as_of, &vec![5; 1_000_000]).unwrap();
            }
            Output::Event(_) => idle = false,
        }
        match r.poll_output() {
            room::Output::Timeout(_) => {}
            room::Output::Datagram { .. }
            | room::Output::Store(_)
            | room::Output::Delay { .. }
            | room::Output::Token { .. } => {}
            room::Output::Send { link, packet, body } => {
                idle = false;
                let packet = room::whole_packet(packet, body.as_deref());
                if link == LinkId(w.link) {
                    c.handle_input(now, Input::Packet(&packet));
                }
                r.handle_input(now, room::Input::Sent { link });
            }
            room::Output::Close { link, packet, .. } => {
                idle = false;
                if link == LinkId(w.link) && !packet.is_empty() {
                    c.handle_input(now, Input::Packet(&packet));
                }
            }
            room::Output::Event(_) => idle = false,
        }
        if idle {
            return;
        }
    }
}

#[test]
fn a_break_in_the_middle_of_a_snapshot() {
    let limits = Limits { snapshot_after: 10, ..Limits::default() };
    let mut r =
        Room::new(room::Config { limits, ..room::Config::new("demo", 7) }, Box::new(AllowAll));
    let mut c = Client::new(Duration::ZERO, ClientConfig::new("demo")).unwrap();
    let d = c.channel("d", DRAW).unwrap();
    c.provide("d", &[d]).unwrap();
    let mut w = Wire { link: 0, up: 0 };
    let mut errs = Vec::new();
    let mut now = Duration::ZERO;
    for step in 0..60 {
        now += 50 * MS;
        if step < 12 {
            c.send(now, d, Outgoing { bytes: b"x", ..Default::default() }).unwrap();
        }
        c.handle_input(now, Input::Timeout);
        r.handle_input(now, room::Input::Timeout);
        pump(now, &mut c, &mut r, &mut w, 30, &mut errs);
    }
    // the transport breaks
    r.handle_input(now, room::Input::Closed { link: LinkId(w.link) });
    c.handle_input(now, Input::Closed);
    let before = w.link;
    for _ in 0..1200 {
        now += 50 * MS;
        c.handle_input(now, Input::Timeout);
        r.handle_input(now, room::Input::Timeout);
        pump(now, &mut c, &mut r, &mut w, 10_000, &mut errs);
    }
    assert!(
        errs.is_empty(),
        "{} errors over {} transports, such as {:?}",
        errs.len(),
        w.link - before,
        errs.first()
    );
}
