//! Patterns of names of rooms and channels.

/// True if the text is that of the pattern, in which a star stands for any text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut pieces = rest.split('*');
    let last = pieces.next_back().unwrap_or_default();
    for piece in pieces {
        match text.find(piece) {
            Some(place) => text = &text[place + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("*", "") && matches("a*a", "aa") && !matches("a*a", "a"));
        assert!(matches("*b*", "abc") && !matches("*bb*", "abc"));
        assert!(matches("docs/*", "docs/") && !matches("docs/*", "docs") && matches("", ""));
    }
}
