//! Fractional keys: between any two keys there is another one, so that moving an item of a list
//! changes only the key of this item. A key is the digits of a fraction to base 62, and keys are
//! compared as text. Every program computes the same keys.

use alloc::string::String;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE: i64 = 62;

/// The number of digits that are computed at a time: 62^8 is below 2^53, up to which JavaScript
/// computes exactly.
const WIDTH: usize = 8;
const RANGE: i64 = BASE.pow(WIDTH as u32);

/// The distance of the keys of items that are added one after the other, at an end of the list or
/// at one place in it: 119,000 of them have keys of three digits, or of eleven within a list.
/// Between two neighbours of them, the gap can be halved 29 times before a key is longer.
const STEP: i64 = BASE.pow(5);

/// The longest key, in characters: 3,800 items, each of them added between the last two, have
/// shorter ones. Longer keys are cut.
const LONGEST: usize = 1000;

/// A key after `low` and before `high`, which are of [`order_of`]; `None`: from the beginning, to
/// the end. If it would be too long, it is cut, and not between them.
pub(crate) fn between(low: Option<&str>, high: Option<&str>) -> String {
    let mut key = String::new();
    // False once an earlier digit of the key is smaller than that of `high`.
    let mut is_below_high = high.is_some();
    loop {
        let at = key.len();
        let from = number_at(low, at);
        let to = if is_below_high { number_at(high, at) } else { RANGE };
        if to - from > 1 || at > LONGEST {
            let is_after_low = at < low.map_or(0, str::len);
            push_digits(&mut key, chosen(from, to, is_after_low, is_below_high));
            return order_of(&key).into();
        }
        is_below_high = is_below_high && from == to;
        push_digits(&mut key, from);
    }
}

/// The key of an item as lists are sorted by it. Another program may have written anything.
pub(crate) fn order_of(key: &str) -> &str {
    let digits = key.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    // Nothing fits before a key of zeros, and nothing between a key and the same one with a zero
    // behind it.
    match key.get(..digits).unwrap_or_default().trim_end_matches('0') {
        "" => "V",
        order => order,
    }
}

/// A number between two numbers: one step from the neighbour that was probably added last,
/// otherwise in the middle.
fn chosen(from: i64, to: i64, is_after_low: bool, is_below_high: bool) -> i64 {
    if is_after_low && !is_below_high && from + STEP < to {
        from + STEP
    } else if !is_after_low && is_below_high && to - STEP > from {
        to - STEP
    } else {
        (from + to).div_euclid(2)
    }
}

/// The number that the digits of a key from `at` on stand for.
fn number_at(key: Option<&str>, at: usize) -> i64 {
    let digits = key.unwrap_or_default().as_bytes();
    (at..at + WIDTH).fold(0, |number, at| {
        let digit = digits.get(at).and_then(|byte| DIGITS.iter().position(|digit| digit == byte));
        number * BASE + digit.unwrap_or(0) as i64
    })
}

fn push_digits(key: &mut String, number: i64) {
    for place in (0..WIDTH as u32).rev() {
        let digit = (number / BASE.pow(place)).rem_euclid(BASE) as usize;
        key.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'0')));
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    type Place = fn(usize, usize) -> usize;

    /// The keys of a list in which `count` items are inserted, each before the one at the index
    /// that `at` returns.
    fn grown(count: usize, at: impl Fn(usize, usize) -> usize) -> Vec<String> {
        let first = between(None, None);
        let mut keys = vec![first.clone(), between(Some(&first), None)];
        for index in 0..count {
            let place = at(index, keys.len());
            let low = place.checked_sub(1).map(|before| keys[before].as_str());
            let key = between(low, keys.get(place).map(String::as_str));
            keys.insert(place, key);
        }
        keys
    }

    #[test]
    fn keys_stay_short_and_in_order() {
        let cases: [(usize, Place); 4] =
            [(3, |_, length| length), (3, |_, _| 0), (11, |index, _| index + 1), (11, |_, _| 1)];
        for (longest, at) in cases {
            let keys = grown(10_000, at);
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(keys.iter().map(String::len).max(), Some(longest));
        }
        let halved = grown(3800, |index, _| 1 + index.div_ceil(2));
        assert!(halved.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn keys_have_a_longest_length() {
        let [low, high] = [1, 2].map(|digit| "0".repeat(998) + &digit.to_string());
        assert_eq!(between(Some(&low), Some(&high)).len(), 1000);
        let after = low.clone() + "z";
        assert_eq!(between(Some(&after), Some(&high)), after);
        assert_eq!(order_of(&"z".repeat(5000)), "z".repeat(1000));
        for (made_up, order) in
            [("", "V"), ("000", "V"), ("!", "V"), ("V0", "V"), ("Vé", "V"), ("a0b00-", "a0b")]
        {
            assert_eq!(order_of(made_up), order);
        }
    }
}
