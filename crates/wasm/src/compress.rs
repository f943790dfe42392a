//! Converts the compression options of a channel from JavaScript, and a channel's statistics to
//! JavaScript. Their TypeScript types are in `web/client/src/compress.ts`.

use groupwire_session::client::ChannelId;
use groupwire_session::codecs::{Choice, Filter};
use groupwire_session::{ChannelStats, Client, Compress, Traffic};
use wasm_bindgen::prelude::JsValue;

use crate::number;
use crate::plain::Plain;

/// Converts the type `Compression` of `web/client/src/compress.ts`. Its field `kind` says how
/// messages are compressed: 0 by templates, 1 not at all, 2 by a codec that the session chooses, 3
/// by a given codec.
pub(crate) fn read(from: &Plain) -> Compress {
    let number = |key| from.number(key).unwrap_or_default() as u8;
    match number("kind") {
        0 => Compress::Template,
        1 => Compress::Off,
        2 => Compress::Auto,
        _ => Compress::Named(Choice {
            codec: number("codec"),
            level: from.number("level").map(|level| level as i8),
            filter: Filter::by_number(number("filter")).unwrap_or_default(),
        }),
    }
}

/// The messages and bytes that each channel sent and received, in the order of the channel numbers.
pub(crate) fn stats(client: &Client) -> alloc::vec::Vec<JsValue> {
    (0..)
        .map_while(|id| client.channel_stats(ChannelId(id)))
        .map(|ChannelStats { sent, received, .. }| {
            Plain::new().with("sent", traffic(sent)).with("received", traffic(received)).into()
        })
        .collect()
}

fn traffic(traffic: Traffic) -> Plain {
    Plain::new()
        .with("messages", number(traffic.messages))
        .with("bytesBefore", number(traffic.bytes_before))
        .with("bytesAfter", number(traffic.bytes_after))
        .with("codedMessages", number(traffic.coded_messages))
        .with("codedBytes", number(traffic.coded_bytes))
        .with("codec", traffic.codec.map(|choice| choice.codec))
        .with("filter", traffic.codec.map(|choice| choice.filter.number()))
}
