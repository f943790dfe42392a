//! Batches: several changes as one operation.

use crate::error::Error;
use crate::link::Link;
use crate::shared::Shared;

impl<L: Link> Shared<L> {
    /// Makes one operation of all changes in `run`: it counts as a whole or not at all, and is
    /// undone as a whole. More than 12,000 characters are sent as several operations, so others may
    /// see some changes earlier than the rest. If `run` returns an error, the changes are taken
    /// back. A batch within another one is a part of it.
    ///
    /// # Errors
    /// That of `run`, or the operation cannot be sent.
    pub fn batch<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, Error<L::Error>>,
    ) -> Result<T, Error<L::Error>> {
        if !self.begin_batch() {
            return run(self);
        }
        match run(self) {
            Ok(result) => {
                self.end_batch()?;
                Ok(result)
            }
            Err(error) => {
                self.abort_batch();
                Err(error)
            }
        }
    }

    /// Begins a [`batch`](Self::batch) that [`end_batch`](Self::end_batch) ends, for languages
    /// whose functions cannot be passed to `batch`. Returns false if one has begun already, which
    /// then goes on.
    ///
    /// Pass no inputs meanwhile: an input takes the batch back. There are no events, undo, redo and
    /// snapshots before its end.
    ///
    /// ```
    /// # use groupwire_shared::{Definitions, Link, Shared, Taken};
    /// # #[derive(Default)]
    /// # struct Alone(Vec<String>);
    /// # impl Link for Alone {
    /// #     type Error = std::convert::Infallible;
    /// #     fn send(&mut self, operation: &str) -> Result<Taken, Self::Error> {
    /// #         self.0.push(operation.to_owned());
    /// #         Ok(Taken::Yes)
    /// #     }
    /// #     fn preview(&mut self, _key: &str, _text: &str) {}
    /// # }
    /// let mut data = Shared::new("me", Definitions::new(), Alone::default());
    /// data.begin_batch();
    /// data.map("shapes").set("a", 1)?;
    /// data.counter("moves").add(1)?;
    /// data.end_batch()?;
    /// assert_eq!(data.link().0, [r#"["me",1,[["shapes","s","a",1],["moves","+",1]]]"#]);
    /// # Ok::<(), groupwire_shared::Error<std::convert::Infallible>>(())
    /// ```
    pub fn begin_batch(&mut self) -> bool {
        if self.is_batch {
            return false;
        }
        self.replica.begin();
        self.is_batch = true;
        true
    }

    /// Ends a batch, and sends it as one operation. Does nothing if none has begun.
    ///
    /// # Errors
    /// The operation cannot be sent; its changes are taken back.
    pub fn end_batch(&mut self) -> Result<(), Error<L::Error>> {
        if !core::mem::take(&mut self.is_batch) {
            return Ok(());
        }
        let step = self.commit()?;
        self.remember(step);
        Ok(())
    }

    /// Ends a batch, and takes its changes back. Does nothing if none has begun.
    pub fn abort_batch(&mut self) {
        if core::mem::take(&mut self.is_batch) {
            self.replica.abort();
        }
    }

    /// True between [`begin_batch`](Self::begin_batch) and the end of the batch.
    pub fn is_batch(&self) -> bool {
        self.is_batch
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::convert::Infallible;

    use super::*;
    use crate::event::Input;
    use crate::link::{Definitions, Taken};

    #[derive(Default)]
    struct Sent(Vec<String>);

    impl Link for Sent {
        type Error = Infallible;

        fn send(&mut self, operation: &str) -> Result<Taken, Infallible> {
            self.0.push(operation.to_string());
            Ok(Taken::Yes)
        }

        fn preview(&mut self, _key: &str, _text: &str) {}
    }

    fn with_an_open_batch() -> Shared<Sent> {
        let mut data = Shared::new("me", Definitions::new(), Sent::default());
        data.counter("moves").add(1).unwrap();
        assert!(data.begin_batch() && !data.begin_batch() && data.is_batch());
        data.map("shapes").set("a", 1).unwrap();
        data
    }

    #[test]
    fn an_input_takes_an_open_batch_back() {
        let mut data = with_an_open_batch();
        let first = data.link().0[0].clone();
        data.handle_input(Input::Message { sender: 1, text: Some(&first) });
        assert_eq!((data.is_batch(), data.map("shapes").get("a")), (false, None));
        data.end_batch().unwrap();
        assert_eq!((data.link().0.len(), data.pending(), data.counter("moves").value()), (1, 0, 1));
    }

    #[test]
    fn nothing_is_undone_told_or_kept_before_the_end_of_a_batch() {
        let mut data = with_an_open_batch();
        assert_eq!(data.undo(), Ok(false));
        assert_eq!((data.poll_event(), data.snapshot()), (None, None));
        assert_eq!(data.map("shapes").get("a"), Some(1.into()));
        data.end_batch().unwrap();
        assert_eq!((data.undo(), data.map("shapes").get("a")), (Ok(true), None));
        assert_eq!((data.undo(), data.counter("moves").value()), (Ok(true), 0));
    }

    #[test]
    fn a_batch_that_is_taken_back_leaves_nothing() {
        let mut data = with_an_open_batch();
        data.abort_batch();
        assert_eq!((data.map("shapes").get("a"), data.link().0.len()), (None, 1));
        assert!(data.begin_batch());
    }
}
