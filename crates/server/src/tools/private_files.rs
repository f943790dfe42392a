//! Private files, which other users of the machine cannot use, and warnings about files that other
//! users could use.

pub(crate) use groupwire_store::{
    Loose, close_to_others, create_private, create_private_folder, open_or_create_private,
    write_private,
};

/// Logs that other users could use a file or a folder, and whether they still can.
pub(crate) fn log_loose(loose: &Loose) {
    let Loose { path, mode, why_still } = loose;
    let (path, mode) = (path.display(), format_args!("{mode:o}"));
    match why_still {
        None => {
            tracing::warn!(%path, %mode, "other users could use this: it is closed to them now")
        }
        Some(why) => tracing::warn!(
            %path, %mode, why,
            "other users can use this, and that cannot be changed: `chmod go= PATH` as its owner, or another folder"
        ),
    }
}
