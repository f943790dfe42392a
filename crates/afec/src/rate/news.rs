//! Whether a change of a rate limit is worth a report.

/// Whether a rate limit is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// No: it differs little from the limit that the sender knows.
    None,
    /// Yes, but not at once: the report may wait until half a second after the last one.
    Worth,
    /// Yes, at once: the limit fell.
    Urgent,
}

/// Compares the rate limit that the sender knows with the present one, both in bytes per second.
pub fn differs(reported: Option<u32>, current: Option<u32>) -> News {
    match (reported, current) {
        (None, None) => News::None,
        (Some(_), None) => News::Worth,
        (None, Some(_)) => News::Urgent,
        // 3 % less is the accuracy of a measurement over a quarter of a second; 5 % more is the
        // growth of a limit in a second.
        (Some(told), Some(cap)) if u64::from(cap) * 100 < u64::from(told) * 97 => News::Urgent,
        (Some(told), Some(cap)) if u64::from(cap) * 100 >= u64::from(told) * 105 => News::Worth,
        (Some(_), Some(_)) => News::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_changes_are_news() {
        assert_eq!(differs(None, None), News::None);
        assert_eq!(differs(None, Some(1000)), News::Urgent);
        assert_eq!(differs(Some(1000), Some(980)), News::None);
        assert_eq!(differs(Some(1000), Some(960)), News::Urgent);
        assert_eq!(differs(Some(1000), Some(1040)), News::None);
        assert_eq!(differs(Some(1000), Some(1050)), News::Worth);
        assert_eq!(differs(Some(u32::MAX), None), News::Worth);
    }
}
