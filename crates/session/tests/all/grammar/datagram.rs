//! Datagrams and reports (docs/wire/datagrams.md and reports.md).

use super::{Fields, Reader, Value, varint, write_bytes, write_record};

/// The eight numbers of a record in a datagram (W39).
const RECORD: [&str; 8] =
    ["channel", "sender", "flags", "leg_index", "index", "age", "stamp", "back"];

const REPORT: u8 = 1 << 5;
const ASK: u8 = 1 << 4;
const HELD: u8 = 1 << 3;
const ACKNOWLEDGEMENT: u8 = 1 << 2;
const KIND: u8 = 3;

/// Takes a datagram apart that is no frame (W38).
///
/// # Errors
/// A violation of the grammar.
pub(crate) fn read_datagram(datagram: &[u8]) -> Result<Fields, String> {
    let mut reader = Reader { rest: datagram };
    let flags = reader.u8()?;
    if flags >> 6 != 1 {
        return Err("a frame's tag".into());
    }
    let mut fields = Fields::default();
    fields.push("ask", Value::Number(u64::from(flags & ASK != 0)));
    fields.push("kind", Value::Number(u64::from(flags & KIND)));
    fields.push("number", Value::Number(reader.u8()?.into()));
    let sent = reader.take(2)?;
    fields.push("sent", Value::Number(u64::from(sent[0]) << 8 | u64::from(sent[1])));
    if flags & HELD != 0 {
        let held = reader.varint()?;
        let parts = Fields::default().num("ms", (held >> 3) * 4).num("report", held & 7);
        fields.push("held", Value::Fields(parts));
    }
    if flags & REPORT != 0 {
        fields.push("report", Value::Fields(read_report(&mut reader)?));
    }
    if flags & ACKNOWLEDGEMENT != 0 {
        fields.push("acknowledgement", Value::Bytes(reader.bytes()?.to_vec()));
    }
    match flags & KIND {
        0 => {}
        2 => fields.push("coded", Value::Bytes(reader.take(reader.rest.len())?.to_vec())),
        kind => {
            if kind == 3 {
                fields.push("coded", Value::Bytes(reader.bytes()?.to_vec()));
            }
            fields.push("records", reader.list(|reader| reader.record(&RECORD))?);
        }
    }
    match reader.rest {
        [] => Ok(fields),
        rest => Err(format!("{} bytes too many", rest.len())),
    }
}

/// W86.
fn read_report(reader: &mut Reader<'_>) -> Result<Fields, String> {
    let numbers = reader.u8()?;
    let sections = numbers & 0x0f;
    let mut report = Fields::default();
    report.push("number", Value::Number((numbers >> 4).into()));
    report.push("highest", Value::Number(reader.u8()?.into()));
    report.push("hold", Value::Number(reader.varint()?));
    if sections & 1 != 0 {
        report.push("losses", Value::Bytes(reader.take(6)?.to_vec()));
    }
    if sections & 2 != 0 {
        report.push("rate", Value::Number(reader.varint()?));
    }
    if sections & 4 != 0 {
        let count = reader.varint()?;
        let parts: Result<Vec<Fields>, String> = (0..count).map(|_| read_part(reader)).collect();
        report.push("parts", Value::List(parts?));
    }
    if sections & 8 != 0 {
        return Err("a report of an unknown section".into());
    }
    Ok(report)
}

fn read_part(reader: &mut Reader<'_>) -> Result<Fields, String> {
    let first = reader.varint()?;
    let part = Fields::default().num("channel", first >> 2);
    Ok(match first & 3 {
        0 => {
            let bytes = reader.take(2)?;
            let index = u64::from(bytes[0]) << 8 | u64::from(bytes[1]);
            part.num("first", index).num("more", reader.varint()?)
        }
        1 => part.with("balance", Value::Signed((reader.u8()? as i8).into())),
        2 => part.with("steps", Value::Signed((reader.u8()? as i8).into())),
        _ => return Err("a part of an unknown kind".into()),
    })
}

/// Encodes a datagram.
pub(crate) fn write_datagram(fields: &Fields) -> Vec<u8> {
    let flag = |name: &str, bit: u8| if fields.find(name).is_some() { bit } else { 0 };
    let flags = 1 << 6
        | flag("report", REPORT)
        | if fields.number("ask") == 1 { ASK } else { 0 }
        | flag("held", HELD)
        | flag("acknowledgement", ACKNOWLEDGEMENT)
        | fields.number("kind") as u8;
    let mut out = vec![flags, fields.number("number") as u8];
    out.extend((fields.number("sent") as u16).to_be_bytes());
    if let Some(Value::Fields(held)) = fields.find("held") {
        varint((held.number("ms") / 4) << 3 | held.number("report"), &mut out);
    }
    if let Some(Value::Fields(report)) = fields.find("report") {
        write_report(report, &mut out);
    }
    if let Some(Value::Bytes(acknowledgement)) = fields.find("acknowledgement") {
        write_bytes(acknowledgement, &mut out);
    }
    match (fields.find("coded"), fields.number("kind")) {
        (Some(Value::Bytes(coded)), 3) => write_bytes(coded, &mut out),
        (Some(Value::Bytes(coded)), _) => out.extend(coded),
        _ => {}
    }
    if let Some(Value::List(records)) = fields.find("records") {
        records.iter().for_each(|record| write_record(&RECORD, record, &mut out));
    }
    out
}

fn write_report(report: &Fields, out: &mut Vec<u8>) {
    let sections = [("losses", 1), ("rate", 2), ("parts", 4)];
    let present = sections.iter().filter(|(name, _)| report.find(name).is_some());
    let sections = present.map(|(_, bit)| bit).sum::<u8>();
    out.push((report.number("number") as u8) << 4 | sections);
    out.push(report.number("highest") as u8);
    varint(report.number("hold"), out);
    if let Some(Value::Bytes(losses)) = report.find("losses") {
        out.extend(losses);
    }
    if let Some(Value::Number(rate)) = report.find("rate") {
        varint(*rate, out);
    }
    let Some(Value::List(parts)) = report.find("parts") else { return };
    varint(parts.len() as u64, out);
    for part in parts {
        let kind = match () {
            () if part.find("balance").is_some() => 1,
            () if part.find("steps").is_some() => 2,
            () => 0,
        };
        varint(part.number("channel") << 2 | kind, out);
        match (part.find("balance"), part.find("steps")) {
            (Some(Value::Signed(value)), _) | (_, Some(Value::Signed(value))) => {
                out.push(*value as i8 as u8);
            }
            _ => {
                out.extend((part.number("first") as u16).to_be_bytes());
                varint(part.number("more"), out);
            }
        }
    }
}
