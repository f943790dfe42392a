//! Replays a conversation: with the recorded inputs, each end must have the recorded outputs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{End, HEAD, Output};
use crate::grammar::{hex, unhex};

/// Replays a conversation.
///
/// # Errors
/// The first line with another output.
pub(crate) fn replay(text: &str) -> Result<(), String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err("it is no conversation".into());
    }
    let mut ends: BTreeMap<&str, (End, Vec<Output>)> = BTreeMap::new();
    let mut packets: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        match parts[..] {
            [time, name, "<", what] => {
                let numbers = what.split(' ').filter_map(|word| word.strip_prefix('#'));
                for number in numbers.map(|number| number.parse().expect("a number")) {
                    if !packets.contains_key(&number) {
                        return Err(format!("{line}\n  this packet was not sent"));
                    }
                }
                let (now, (end, done)) = (micros(time), known(&mut ends, name));
                end.run_to(now);
                end.input(now, what, |number| packets[&number].clone());
                done.extend(end.take());
            }
            [time, name, direction, what] if direction == ">" || direction == "!" => {
                let words: Vec<&str> = what.split(' ').collect();
                let number = words.iter().position(|word| word.starts_with('#'));
                let bytes =
                    number.and_then(|at| words.get(at + 1)).map_or(vec![], |hex| unhex(hex));
                if let Some(at) = number {
                    packets.insert(words[at][1..].parse().expect("a number"), bytes.clone());
                }
                if direction == "!" {
                    continue;
                }
                let (now, (end, done)) = (micros(time), known(&mut ends, name));
                end.run_to(now);
                done.extend(end.take());
                let was = describe(now, words[0], link(&words), &bytes);
                let is = match done.is_empty() {
                    true => "nothing".to_owned(),
                    false => {
                        let Output { at, verb, link, bytes } = done.remove(0);
                        describe(at, verb, link, &bytes)
                    }
                };
                if is != was {
                    return Err(format!("{line}\n  it was: {was}\n  now:    {is}"));
                }
            }
            _ => {
                let (name, config) = line.split_once(' ').unwrap_or((line, ""));
                let end = if name == "room" { End::room(config) } else { End::client(config) };
                ends.insert(name, (end, Vec::new()));
            }
        }
    }
    for (name, (_, done)) in ends {
        if let Some(more) = done.first() {
            return Err(format!("{name} does more: {more:?}"));
        }
    }
    Ok(())
}

fn known<'a>(
    ends: &'a mut BTreeMap<&str, (End, Vec<Output>)>,
    name: &str,
) -> &'a mut (End, Vec<Output>) {
    ends.get_mut(name).expect("an end that the head names")
}

/// The transport in the output of a room: a number behind the verb.
fn link(words: &[&str]) -> Option<u64> {
    words.get(1)?.parse().ok()
}

fn describe(at: Duration, verb: &str, link: Option<u64>, bytes: &[u8]) -> String {
    format!("{} {verb} {link:?} {}", at.as_micros(), hex(bytes))
}

fn micros(text: &str) -> Duration {
    Duration::from_micros(text.parse().expect("microseconds"))
}
