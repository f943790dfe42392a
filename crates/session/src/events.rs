//! Events for logs, by the crate `tracing`. Without the feature `tracing` they are compiled to
//! nothing.

/// Emits a `tracing` event: its level, its text, and local variables as its fields. `%value` is
/// shown by `Display`, `?value` by `Debug`; numbers, booleans and strings need neither. Fields are
/// formatted only if a log takes the event.
#[cfg(feature = "tracing")]
macro_rules! event {
    ($level:ident, $text:literal $(, $(%$shown:ident)? $(?$debugged:ident)? $($plain:ident)?)*) => {
        ::tracing::event!(
            ::tracing::Level::$level,
            $($(%$shown,)? $(?$debugged,)? $($plain,)?)*
            $text
        )
    };
}

#[cfg(not(feature = "tracing"))]
macro_rules! event {
    ($level:ident, $text:literal $(, $(%$shown:ident)? $(?$debugged:ident)? $($plain:ident)?)*) => {{
        $($(let _ = &$shown;)? $(let _ = &$debugged;)? $(let _ = &$plain;)?)*
    }};
}

pub(crate) use event;
