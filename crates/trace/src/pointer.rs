//! Raw pointer events as the messages of a telepointer.

use std::path::Path;
use std::time::Duration;

use super::limits::{MAX_MESSAGES, MAX_TIME_MS};
use super::{Error, Trace, TraceMessage};

/// Reads rows of time in ms, button, state, x, y. Each becomes a message of kind *pointer* in JSON,
/// like `{"t":29256,"x":976,"y":693,"state":"Move"}`; where a button is involved it is named:
/// `"button":"Left"`.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Trace, Error> {
    let wrong = |line, why| Error::Row { path: path.to_owned(), line, why };
    let text = std::str::from_utf8(bytes).map_err(|_| wrong(1, "this is not text"))?;
    let mut messages = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let mut cells = line.trim_end().split(',');
        let mut cell = || cells.next().unwrap_or_default();
        let (time, button, state, x, y) = (cell(), cell(), cell(), cell(), cell());
        let Some(ms) = number(time).filter(|ms| (0.0..=MAX_TIME_MS).contains(ms)) else {
            match at {
                0 => continue, // the names of the columns
                _ => return Err(wrong(at + 1, "a time in milliseconds is due")),
            }
        };
        if number(x).is_none() || number(y).is_none() {
            return Err(wrong(at + 1, "after time, button and state come the numbers x and y"));
        }
        if !is_word(button) || !is_word(state) {
            return Err(wrong(at + 1, "button and state are a word each"));
        }
        if messages.len() >= MAX_MESSAGES {
            let (what, found, limit) = ("a number of rows", messages.len() + 1, MAX_MESSAGES);
            return Err(Error::Limit { path: path.to_owned(), what, found, limit });
        }
        let mut json = format!(r#"{{"t":{time},"x":{x},"y":{y},"state":"{state}""#);
        if button != "NoButton" {
            json.push_str(&format!(r#","button":"{button}""#));
        }
        json.push('}');
        let at = Duration::from_micros((ms * 1000.0).round() as u64);
        messages.push(TraceMessage { at, sender: 0, kind: 0, bytes: json.into_bytes().into() });
    }
    Ok(Trace { messages, kinds: vec!["pointer".to_owned()], timed: true })
}

/// A number that JSON can hold as it is written.
fn number(cell: &str) -> Option<f64> {
    let plain = cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    cell.parse().ok().filter(|_| plain)
}

fn is_word(cell: &str) -> bool {
    cell.len() <= 32 && cell.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_row_becomes_a_message() {
        let csv = "client timestamp,button,state,x,y\n29256,NoButton,Move,976,693\n29300,Left,Pressed,1,2\n";
        let trace = parse("x.csv".as_ref(), csv.as_bytes()).unwrap();
        let texts = trace.messages.iter().map(|one| String::from_utf8_lossy(&one.bytes));
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                r#"{"t":29256,"x":976,"y":693,"state":"Move"}"#,
                r#"{"t":29300,"x":1,"y":2,"state":"Pressed","button":"Left"}"#,
            ]
        );
        assert_eq!(trace.messages[1].at, Duration::from_millis(29300));
    }

    #[test]
    fn wrong_rows_are_named() {
        for row in ["x", "-5,a,b,1,2", "5,a,b,1", "5,a,b,inf,1", "5,a\",b,1,2", "5,a,b,1e9,2"] {
            let error = parse("x.csv".as_ref(), format!("names\n{row}\n").as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Row { line: 2, .. }), "{row}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, text in "[0-9a,\n.-]{0,80}") {
            let _ = parse("x.csv".as_ref(), &bytes);
            let _ = parse("x.csv".as_ref(), text.as_bytes());
        }
    }
}
