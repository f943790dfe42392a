//! Reducers of the application.

use alloc::boxed::Box;
use core::fmt;

use crate::json::Json;
use crate::text::Text;

type Reduce = dyn Fn(&Json, &Json, &Text) -> Option<Json> + Send;
type Invert = dyn Fn(&Json, &Json) -> Option<Json> + Send;

/// Makes a value of actions, in the room's order. All programs in a room must have the same one for
/// a name: give a changed reducer another name.
///
/// ```
/// use groupwire_shared::{Json, Reducer};
///
/// let total = Reducer::new(0, |total, by, _author| Some((total.as_f64()? + by.as_f64()?).into()))
///     .undo(|by, _total| Some((-by.as_f64()?).into()));
/// ```
pub struct Reducer {
    pub(crate) initial: Json,
    pub(crate) reduce: Box<Reduce>,
    pub(crate) invert: Option<Box<Invert>>,
}

impl Reducer {
    /// `initial` is the value before the first action. `reduce` returns the next value; it may
    /// depend only on the present value, the action, and the id of the action's author. `None`: the
    /// action is malformed, and has no effect.
    pub fn new(
        initial: impl Into<Json>,
        reduce: impl Fn(&Json, &Json, &Text) -> Option<Json> + Send + 'static,
    ) -> Self {
        Reducer { initial: initial.into(), reduce: Box::new(reduce), invert: None }
    }

    /// `invert` returns the action that undoes an action on a value. `None`: it cannot be undone,
    /// as is the case without `invert`.
    #[must_use]
    pub fn undo(mut self, invert: impl Fn(&Json, &Json) -> Option<Json> + Send + 'static) -> Self {
        self.invert = Some(Box::new(invert));
        self
    }
}

impl fmt::Debug for Reducer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reducer").field("initial", &self.initial).finish_non_exhaustive()
    }
}
