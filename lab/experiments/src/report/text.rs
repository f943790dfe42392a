//! Text for pages: escaped, cut to fit, and numbers as people read them.

use std::fmt::Write;

/// Text between tags or within quotes. What XML cannot hold becomes a replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

/// A number with three digits that matter, or all that stand before the point: 0.0123, 1.23, 12.3, 1,235.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    let digits = match size {
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.09995 => 3,
        _ => 4,
    };
    if size > 0.0 && size < 0.0001 || size >= 1e15 {
        return format!("{value:.2e}").replace('-', "−");
    }
    let (sign, size) = (if value < 0.0 { "−" } else { "" }, format!("{size:.digits$}"));
    let (whole, rest) = size.split_at(size.find('.').unwrap_or(size.len()));
    format!("{sign}{}{rest}", grouped(whole))
}

/// A number beside an axis: no zeros at its end.
pub(super) fn tick(value: f64) -> String {
    let value = if value.abs() < 1e-14 { 0.0 } else { value };
    let rounded = format!("{:.3e}", value).parse().unwrap_or(value);
    match value.abs() {
        size if size >= 1e6 => scaled(rounded, 1e6, "M"),
        size if size != 0.0 && size < 1e-4 => format!("{rounded:e}").replace('-', "−"),
        _ => {
            let plain = format!("{}", f64::abs(rounded));
            let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
            format!("{}{}{rest}", if value < 0.0 { "−" } else { "" }, grouped(whole))
        }
    }
}

/// A share as percent, with its sign: −1.20 %.
pub(super) fn signed_percent(share: f64) -> String {
    let percent = 100.0 * share;
    let sign = match percent {
        _ if percent.abs() < 0.005 => "±",
        _ if percent < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{:.2} %", percent.abs())
}

/// Room that text takes, in units of its font size: a guess, rather too much.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(|letter| if letter.is_ascii() { 0.58 } else { 1.0 }).sum()
}

/// As much of a text as fits.
pub(super) fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    for letter in text.chars() {
        if width(&out) + 1.6 > room {
            break;
        }
        out.push(letter);
    }
    out.push('…');
    out
}

fn scaled(value: f64, by: f64, suffix: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{}{suffix}", tick(value / by));
    out
}

/// Digits in groups of three: 12850 as 12,850.
pub fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escape("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
        assert_eq!(escape("a\u{0}b\nc"), "a\u{fffd}b c");
    }

    #[test]
    fn numbers_have_three_digits() {
        let numbers = [0.0, 0.01234, 0.5, 9.999, 12.345, 1234.5, -1234567.0, 1e-7, f64::NAN];
        let said = ["0", "0.0123", "0.500", "10.0", "12.3", "1,234", "−1,234,567", "1.00e−7", "–"];
        assert_eq!(numbers.map(number), said);
    }

    #[test]
    fn ticks_have_no_idle_zeros() {
        let ticks = [0.0, 0.30000000000000004, 1400.0, 2e6, -0.5, 1e-5, 1e9];
        assert_eq!(ticks.map(tick), ["0", "0.3", "1,400", "2M", "−0.5", "1e−5", "1,000M"]);
    }

    #[test]
    fn percents_say_which_way() {
        assert_eq!([0.0001, -0.012, 0.31].map(signed_percent), ["+0.01 %", "−1.20 %", "+31.00 %"]);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(cut("short", 10.0), "short");
        assert_eq!(cut("a rather long name", 6.0), "a rather…");
    }
}
