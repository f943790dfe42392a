//! Helpers for several tests.

pub(crate) mod envelopes;
pub(crate) mod formats;

use proptest::collection::vec;
use proptest::prelude::*;

/// A message of any kind, alone or inside of others.
pub(crate) fn message() -> impl Strategy<Value = Vec<u8>> {
    let payload = (r#"\{"[ab]":"[xy]{6}","c":-?[0-9]{1,5}\}"#, alone());
    let payload = (payload, 0..3).prop_map(|((json, other), kind)| match kind {
        0 => other,
        _ => json.into_bytes(),
    });
    let envelopes = vec((0..envelopes::COUNT, 0u32..500), 1..6);
    let nested = (payload, envelopes).prop_map(|(payload, envelopes)| {
        envelopes.into_iter().fold(payload, |payload, (envelope, count)| {
            if payload.len() > 200 { payload } else { envelopes::wrap(envelope, count, &payload) }
        })
    });
    prop_oneof![3 => alone(), 1 => nested]
}

/// A message with an identifier: one of few, or a random one.
fn identifier() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![
        Just("9f1c2d3e-4b5a-4677-8899-aabbccddeeff".to_owned()),
        "(x:)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "(x:)?[0-9A-Za-z_-]{10,30}",
        "[0-9a-f]{6,40}[.=]{0,2}",
        "[0-9A-Za-z+/]{300}",
    ];
    id.prop_map(|id| format!(r#"{{"id":"{id}"}}"#).into_bytes())
}

fn alone() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..60),
        vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..30),
        "[ -~]{0,80}".prop_map(String::into_bytes),
        r#"\{"[ab]":-?[0-9]{1,5}(\.[0-9]{1,3})?,"[cd]":"[a-z ]{0,9}"\}"#
            .prop_map(String::into_bytes),
        (-3000i32..3000, prop_oneof![Just(0.9), Just(0.7351)])
            .prop_map(|(pixel, zoom)| format!("{{\"a\":{}}}", f64::from(pixel) / zoom + 213.5))
            .prop_map(String::into_bytes),
        "[-0-9. ]{0,25}".prop_map(String::into_bytes),
        identifier(),
        (formats::value(), 0u8..6).prop_map(|(value, format)| formats::write(&value, format)),
        "(\"|'|a|1|-|\\.|\\\\|é){0,20}".prop_map(String::into_bytes),
    ]
}
