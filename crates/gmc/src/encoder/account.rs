//! What an encoder tells about the bits of its packets.

use alloc::vec::Vec;

use super::Encoder;
use crate::account::{Account, Expense, Part};

impl Encoder {
    /// Switches [`Encoder::expenses`] on or off from the next packet on.
    pub fn set_accounting(&mut self, accounting: bool) {
        self.expenses = Expenses(accounting.then(Vec::new));
    }

    /// What the bits of the last packet were spent on, in the order in which it was coded, while
    /// [switched on](Encoder::set_accounting). The bits that are left fill the last byte; a check
    /// byte is not counted. After [`Encoder::encode_packet_within`] has returned `false` these are
    /// the expenses of the packet that was too large.
    pub fn expenses(&self) -> &[Expense] {
        self.expenses.0.as_deref().unwrap_or_default()
    }

    /// The fixed bytes before the hole with this label, in one of the templates that have it.
    pub fn before_hole(&self, label: u32) -> Option<&[u8]> {
        self.stream.templates().all().find_map(|(_, template)| {
            let index = template.find(label)?;
            Some(template.fixed_before(index))
        })
    }
}

/// The expenses of the last packet. `None` if no account is kept.
#[derive(Clone, Default)]
pub(super) struct Expenses(Option<Vec<Expense>>);

impl Expenses {
    pub(super) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes the account of a packet that was coded with the model.
    pub(super) fn set(&mut self, account: Option<Account>) {
        self.0 = account.map(Account::into_expenses);
    }

    /// Notes a packet that was compressed by a codec.
    pub(super) fn set_plain(&mut self, packet: &[u8]) {
        if let Some(expenses) = &mut self.0 {
            expenses.clear();
            expenses
                .push(Expense { part: Part::Plain, bits: packet.len() as u32 * 8 * Expense::BIT });
        }
    }
}
