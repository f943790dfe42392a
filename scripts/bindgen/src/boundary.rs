//! The functions at which a module is split, by their names.

use std::error::Error;

/// A list of paths of functions. Every function whose path begins with one of them is in the second
/// part.
///
/// In its text each line is a path such as `groupwire_gmc::` or
/// `groupwire_session::client::groups::Groups::read`. A line that begins with `!` makes an
/// exception from the others: functions with this path stay in the first part if that part calls
/// them. Lines that begin with `#` are comments.
pub struct Boundary {
    moved: Vec<String>,
    kept: Vec<String>,
}

impl Boundary {
    pub fn read(text: &str) -> Result<Boundary, Box<dyn Error>> {
        let mut boundary = Boundary { moved: Vec::new(), kept: Vec::new() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix('!') {
                _ if line.starts_with('#') => {}
                Some(path) => boundary.kept.push(path.into()),
                None => boundary.moved.push(line.into()),
            }
        }
        if boundary.moved.is_empty() {
            return Err("the list of functions at the boundary is empty".into());
        }
        Ok(boundary)
    }

    /// Whether the function with this demangled name is in the second part.
    pub fn holds(&self, name: &str) -> bool {
        let path = path(name);
        let begins = |paths: &[String]| paths.iter().any(|one| path.starts_with(one.as_str()));
        begins(&self.moved) && !begins(&self.kept)
    }
}

/// The path of a function without the compiler's additions: `a::B::drop` for `<a::B as
/// core::ops::Drop>::drop`, `a::B` for `core::ptr::drop_in_place<a::B>`.
fn path(name: &str) -> &str {
    let name = name.strip_prefix("core::ptr::drop_in_place").unwrap_or(name);
    name.trim_start_matches(['<', '&', '[']).trim_start_matches("mut ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_all_kinds_of_names() {
        let boundary = Boundary::read("# comment\n\na::\n!a::kept\n").unwrap();
        for moved in [
            "a::b::c::h0123456789abcdef",
            "<a::B as core::fmt::Display>::fmt",
            "core::ptr::drop_in_place<a::B>",
            "core::ptr::drop_in_place<[a::B]>",
            "<&mut a::B as core::iter::Iterator>::next",
        ] {
            assert!(boundary.holds(moved), "{moved}");
        }
        for kept in [
            "b::a::c",
            "a::kept::c",
            "core::ptr::drop_in_place<core::option::Option<a::B>>",
            "alloc::vec::Vec<T,A>::push",
        ] {
            assert!(!boundary.holds(kept), "{kept}");
        }
        assert!(Boundary::read("# nothing").is_err());
    }
}
