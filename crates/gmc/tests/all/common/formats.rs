//! Writers of binary formats.

use proptest::collection::vec;
use proptest::prelude::*;

/// A value of a self-describing format.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Integer(i64),
    Single(f32),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    Array(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// Any value, such as apps send: few keys, small numbers.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (any::<i64>(), 0u32..64).prop_map(|(number, shift)| Value::Integer(number >> shift)),
        any::<f32>().prop_map(Value::Single),
        any::<f64>().prop_map(Value::Double),
        (-9999i32..9999, 1u8..50).prop_map(|(a, b)| Value::Double(f64::from(a) / f64::from(b))),
        (-9999i16..9999).prop_map(|a| Value::Single(f32::from(a) / 4.0)),
        "[a-zé ]{0,40}".prop_map(Value::Text),
        vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            vec(("[a-c]", inner), 0..5).prop_map(Value::Map),
        ]
    })
}

/// MessagePack, in the shortest forms, or the widest.
pub(crate) fn message_pack(value: &Value, wide: bool, out: &mut Vec<u8>) {
    let head = |count: usize, fix: u8, form: u8, out: &mut Vec<u8>| match count {
        0..16 if !wide => out.push(fix | count as u8),
        _ if !wide => out.extend([&[form][..], &(count as u16).to_be_bytes()].concat()),
        _ => out.extend([&[form + 1][..], &(count as u32).to_be_bytes()].concat()),
    };
    let sized = |bytes: &[u8], form: u8, out: &mut Vec<u8>| {
        match bytes.len() {
            0..=0xff if !wide => out.extend([form, bytes.len() as u8]),
            _ => out.extend([&[form + 2][..], &(bytes.len() as u32).to_be_bytes()].concat()),
        }
        out.extend_from_slice(bytes);
    };
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(is) => out.push(0xc2 + u8::from(*is)),
        &Value::Integer(number) => match number {
            _ if wide => out.extend([&[0xd3][..], &number.to_be_bytes()].concat()),
            -32..=127 => out.push(number as u8),
            -128..-32 => out.extend([0xd0, number as u8]),
            128..=255 => out.extend([0xcc, number as u8]),
            256..=0xffff => out.extend([&[0xcd][..], &(number as u16).to_be_bytes()].concat()),
            0x1_0000..=0xffff_ffff => {
                out.extend([&[0xce][..], &(number as u32).to_be_bytes()].concat());
            }
            0x1_0000_0000.. => out.extend([&[0xcf][..], &number.to_be_bytes()].concat()),
            -0x8000..-128 => out.extend([&[0xd1][..], &(number as i16).to_be_bytes()].concat()),
            -0x8000_0000..-0x8000 => {
                out.extend([&[0xd2][..], &(number as i32).to_be_bytes()].concat())
            }
            _ => out.extend([&[0xd3][..], &number.to_be_bytes()].concat()),
        },
        Value::Single(float) => out.extend([&[0xca][..], &float.to_be_bytes()].concat()),
        Value::Double(float) => out.extend([&[0xcb][..], &float.to_be_bytes()].concat()),
        Value::Text(text) if text.len() < 32 && !wide => {
            out.push(0xa0 | text.len() as u8);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Text(text) => sized(text.as_bytes(), 0xd9, out),
        Value::Bytes(bytes) => sized(bytes, 0xc4, out),
        Value::Array(values) => {
            head(values.len(), 0x90, 0xdc, out);
            values.iter().for_each(|value| message_pack(value, wide, out));
        }
        Value::Map(pairs) => {
            head(pairs.len(), 0x80, 0xde, out);
            for (key, value) in pairs {
                message_pack(&Value::Text(key.clone()), wide, out);
                message_pack(value, wide, out);
            }
        }
    }
}

/// CBOR, in the shortest forms, or the widest and with indefinite lengths.
pub(crate) fn cbor(value: &Value, wide: bool, out: &mut Vec<u8>) {
    let head = |major: u8, argument: u64, out: &mut Vec<u8>| {
        let major = major << 5;
        match argument {
            _ if wide => out.extend([&[major | 27][..], &argument.to_be_bytes()].concat()),
            0..24 => out.push(major | argument as u8),
            24..=0xff => out.extend([major | 24, argument as u8]),
            0x100..=0xffff => {
                out.extend([&[major | 25][..], &(argument as u16).to_be_bytes()].concat());
            }
            0x1_0000..=0xffff_ffff => {
                out.extend([&[major | 26][..], &(argument as u32).to_be_bytes()].concat());
            }
            _ => out.extend([&[major | 27][..], &argument.to_be_bytes()].concat()),
        }
    };
    match value {
        Value::Nil => out.push(0xf6),
        Value::Bool(is) => out.push(0xf4 + u8::from(*is)),
        &Value::Integer(number @ 0..) => head(0, number as u64, out),
        &Value::Integer(number) => head(1, !number as u64, out),
        Value::Single(float) => out.extend([&[0xfa][..], &float.to_be_bytes()].concat()),
        Value::Double(float) => out.extend([&[0xfb][..], &float.to_be_bytes()].concat()),
        Value::Text(text) => {
            head(3, text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            head(2, bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Array(values) => {
            if wide {
                out.push(0x9f)
            } else {
                head(4, values.len() as u64, out)
            }
            values.iter().for_each(|value| cbor(value, wide, out));
            if wide {
                out.push(0xff);
            }
        }
        Value::Map(pairs) => {
            if wide {
                out.push(0xbf)
            } else {
                head(5, pairs.len() as u64, out)
            }
            for (key, value) in pairs {
                cbor(&Value::Text(key.clone()), wide, out);
                cbor(value, wide, out);
            }
            if wide {
                out.push(0xff);
            }
        }
    }
}

/// A message of Protocol Buffers: numbers, strings and messages by their places in the map.
pub(crate) fn protocol_buffers(value: &Value, out: &mut Vec<u8>) {
    let fields: Vec<&Value> = match value {
        Value::Map(pairs) => pairs.iter().map(|(_, value)| value).collect(),
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    };
    for (index, value) in fields.into_iter().enumerate() {
        let tag = |wire: u64| (index as u64 + 1) << 3 | wire;
        let string = |bytes: &[u8], out: &mut Vec<u8>| {
            varint(tag(2), out);
            varint(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        };
        let number = |number: u64, out: &mut Vec<u8>| {
            varint(tag(0), out);
            varint(number, out);
        };
        match value {
            Value::Nil => {}
            Value::Bool(is) => number(u64::from(*is), out),
            // As sint64.
            &Value::Integer(value) => number((value << 1 ^ value >> 63) as u64, out),
            Value::Single(float) => {
                varint(tag(5), out);
                out.extend(float.to_le_bytes());
            }
            Value::Double(float) => {
                varint(tag(1), out);
                out.extend(float.to_le_bytes());
            }
            Value::Text(text) => string(text.as_bytes(), out),
            Value::Bytes(bytes) => string(bytes, out),
            Value::Array(_) | Value::Map(_) => {
                let mut inner = Vec::new();
                protocol_buffers(value, &mut inner);
                string(&inner, out);
            }
        }
    }
}

pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A value in one of the formats.
pub(crate) fn write(value: &Value, format: u8) -> Vec<u8> {
    let mut out = Vec::new();
    match format % 6 {
        0 => message_pack(value, false, &mut out),
        1 => message_pack(value, true, &mut out),
        2 => cbor(value, false, &mut out),
        3 => cbor(value, true, &mut out),
        4 => protocol_buffers(value, &mut out),
        _ => packed(value, &mut out),
    }
    out
}

/// A record without any structure of its own: little-endian numbers, strings behind their lengths.
pub(crate) fn packed(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => {}
        Value::Bool(is) => out.push(u8::from(*is)),
        Value::Integer(number) => out.extend(number.to_le_bytes()),
        Value::Single(float) => out.extend(float.to_le_bytes()),
        Value::Double(float) => out.extend(float.to_le_bytes()),
        Value::Text(text) => {
            out.extend((text.len() as u16).to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Bytes(bytes) => {
            varint(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Array(values) => values.iter().for_each(|value| packed(value, out)),
        Value::Map(pairs) => pairs.iter().for_each(|(_, value)| packed(value, out)),
    }
}
