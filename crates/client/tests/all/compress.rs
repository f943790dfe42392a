//! Channels with every codec, between native clients and the real server, over every transport.

use groupwire_client::codecs::{ALL, Choice};
use groupwire_client::{ChannelOptions, Compress, Event, Events, Qos, Room, SendOptions};

use crate::support::{Over, Running, any_port, over_every_transport, synced, until, until_true};

over_every_transport! {
    every_codec_both_ways
    the_choice_changes_and_the_counters_show_it
}

/// Transactions, and awareness, which goes in datagrams over WebTransport.
const KINDS: [(&str, Qos); 2] =
    [("draw", Qos::transaction()), ("path", Qos::awareness().aggregate())];

async fn every_codec_both_ways(over: Over) {
    let mut config = any_port();
    config.room.codecs = ALL;
    let server = Running::start(config).await;
    let (ann, mut to_ann) = server.connect(over, "codecs");
    let (bob, mut to_bob) = server.connect(over, "codecs");
    let numbers = ALL.iter().map(|codec| codec.number()).filter(|&number| number != 0);
    let named = numbers.map(|number| Compress::Named(Choice::codec(number)));
    for compress in named.chain([Compress::Off, Compress::Auto]) {
        for (kind, qos) in KINDS {
            let name = format!("{kind} {compress}");
            let options = ChannelOptions { compress, ..ChannelOptions::default() };
            for room in [&ann, &bob] {
                room.channel_with(&name, qos, options).unwrap();
            }
        }
    }
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;
    let channels = ALL.len() + 1;
    for (sender, events) in [(&ann, &mut to_bob), (&bob, &mut to_ann)] {
        for number in 0..channels * 2 {
            let message = message(number);
            // A channel of this name is open already, and keeps its options.
            let (kind, qos) = KINDS[number % 2];
            let compress = compress_of(number / 2);
            let channel = sender.channel(&format!("{kind} {compress}"), qos).unwrap();
            channel.send(&message[..], SendOptions::default()).unwrap();
            assert_eq!(next_message(events, sender).await, message, "{kind} {compress}");
            let stats = channel.stats().sent;
            assert_eq!((stats.messages, stats.coded_messages), (1, 0), "{kind} {compress}");
            if let Compress::Named(choice) = compress {
                assert_eq!(stats.codec, Some(choice));
                assert!(stats.bytes_after < stats.bytes_before, "{kind} {compress}: {stats:?}");
            }
        }
    }
}

fn compress_of(place: usize) -> Compress {
    match ALL.get(place + 1) {
        Some(codec) => Compress::Named(Choice::codec(codec.number())),
        None if place + 1 == ALL.len() => Compress::Off,
        None => Compress::Auto,
    }
}

async fn the_choice_changes_and_the_counters_show_it(over: Over) {
    let server = Running::start(any_port()).await;
    let (ann, mut to_ann) = server.connect(over, "change");
    let (bob, mut to_bob) = server.connect(over, "change");
    let draw = ann.channel("draw", Qos::transaction()).unwrap();
    let seen = bob.channel("draw", Qos::transaction()).unwrap();
    synced(&mut to_ann).await;
    synced(&mut to_bob).await;
    draw.send(&message(0)[..], SendOptions::default()).unwrap();
    assert_eq!(next_message(&mut to_bob, &ann).await, message(0));
    assert_eq!(seen.stats().received.coded_messages, 1);

    for channel in [&draw, &seen] {
        channel.compress("lz4".parse().unwrap()).unwrap();
    }
    assert!(draw.compress("lz4-99".parse().unwrap()).is_err());
    // The server learns of the change with the next packet.
    let is_packed = || seen.stats().received.codec == Some(Choice::codec(1));
    let mut number = 0;
    while !is_packed() && number < 100 {
        number += 1;
        draw.send(&message(number)[..], SendOptions::default()).unwrap();
        assert_eq!(next_message(&mut to_bob, &ann).await, message(number));
    }
    until_true("messages come packed", is_packed).await;
    let stats = draw.stats().sent;
    assert_eq!((stats.coded_messages, stats.messages), (1, number as u64));
    assert!(stats.bytes_after < stats.bytes_before, "{stats:?}");
}

/// A message of about a kilobyte that every codec makes smaller, and that fits a datagram
/// uncompressed.
fn message(seed: usize) -> Vec<u8> {
    let mut message = format!("{{\"seed\": {seed}, \"values\": [").into_bytes();
    for at in 0..30 {
        message.extend_from_slice(format!("{:04}        ", (at * seed) % 50).as_bytes());
        message.extend_from_slice(&[0; 12]);
    }
    message
}

/// The next message of the participant `from`.
async fn next_message(events: &mut Events, from: &Room) -> Vec<u8> {
    let sender = from.joined().await.unwrap();
    let message = |event: &Event| match event {
        Event::Message(message) if message.sender == sender => Some(message.bytes.clone()),
        _ => None,
    };
    until(events, message).await
}
