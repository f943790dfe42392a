//! Counts of announcements, with which the encoder brings templates (earlier messages) and
//! additions to the decoder (section 5.3.2 and Table 5 of the paper).

/// The announcements of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Announced {
    /// The number of announcements.
    pub count: u64,
    /// The bytes of these announcements together.
    pub bytes: u64,
}

/// The announcements made so far, by the kinds of the paper's Table 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Overhead {
    /// New templates.
    pub templates: Announced,
    /// Additions to the dictionary of a template.
    pub dictionary_additions: Announced,
    /// The frequencies of codes from which Huffman code sets are made.
    pub frequency_lists: Announced,
    /// Composite templates: [`Profile::Gmc2006Plus`](super::Profile::Gmc2006Plus) only.
    pub composite_templates: Announced,
}

impl Overhead {
    /// The bytes of all announcements.
    pub fn bytes(&self) -> u64 {
        [self.templates, self.dictionary_additions, self.frequency_lists, self.composite_templates]
            .iter()
            .map(|announced| announced.bytes)
            .sum()
    }
}
