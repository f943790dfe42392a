//! Cells: the values of maps and lists, with the stamps of the operations that set them. A cell is
//! the array `[stamp, value, version, fields]`; `fields` has the stamps of later operations that
//! set single fields. A cell with a stamp alone stands for a deleted value.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{Json, Object, whole};
use crate::operation::MAX_DEPTH;
use crate::ordered::Ordered;
use crate::text::Text;

/// True if a value of another program is a cell.
pub(crate) fn is_cell(value: &Json) -> bool {
    let Some([Json::Text(_), rest @ ..]) = value.as_array() else { return false };
    let is_version = rest.get(1).is_none_or(|version| version.as_count().is_some());
    let is_fields = rest.get(2).is_none_or(|fields| {
        let of = fields.as_object();
        of.is_some_and(|fields| fields.iter().all(|(_, stamp)| stamp.as_text().is_some()))
    });
    is_version && is_fields && rest.len() <= 3 && value.is_within(MAX_DEPTH + 1)
}

/// A cell that was checked before.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a>(&'a [Json]);

impl<'a> Cell<'a> {
    pub(crate) fn of(value: &'a Json) -> Option<Self> {
        value.as_array().map(Cell)
    }

    pub(crate) fn stamp(self) -> Option<&'a Json> {
        self.0.first()
    }

    /// The value; `None` if it was deleted.
    pub(crate) fn value(self) -> Option<&'a Json> {
        self.0.get(1)
    }

    /// The version of the schema that the value fits.
    pub(crate) fn version(self) -> u64 {
        self.0.get(2).and_then(Json::as_count).unwrap_or(1)
    }

    pub(crate) fn is_deleted(self) -> bool {
        self.0.len() == 1
    }

    pub(crate) fn fields(self) -> Option<&'a Object> {
        self.0.get(3)?.as_object()
    }

    /// The stamps of the last changes of a value. Equal signatures mean equal values. The fields
    /// are sorted, because undo and redo of a field move it to the end.
    pub(crate) fn signature(self) -> Json {
        let stamp = self.stamp().cloned().unwrap_or(Json::Null);
        let Some(fields) = self.fields() else { return stamp };
        let mut sorted: Vec<_> =
            fields.iter().map(|(field, stamp)| (line_of(field, stamp), field, stamp)).collect();
        sorted.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let fields: Object =
            sorted.into_iter().map(|(_, field, stamp)| (field.clone(), stamp.clone())).collect();
        [stamp, fields.into()].into_iter().collect()
    }

    /// The cell with other fields, and what undoes that. An entry has the expected stamp of the
    /// field, the new stamp, and the new value unless the field is removed; it is left out if the
    /// field has another stamp. `None` if nothing changes.
    pub(crate) fn with_fields(
        self,
        entries: impl IntoIterator<Item = (Text, Json)>,
    ) -> Option<(Json, Object)> {
        let all = |members: &Object| {
            members.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let mut value: Ordered<Text, Json> = self.value()?.as_object().map(all)?;
        let mut fields: Ordered<Text, Json> = self.fields().map(all).unwrap_or_default();
        let mut before: Ordered<Text, Json> = Ordered::default();
        let stamp_of_cell = self.stamp()?;
        for (field, entry) in entries {
            let [expected, stamp @ Json::Text(_), content @ ..] =
                entry.as_array().unwrap_or_default()
            else {
                continue;
            };
            let last = fields.get(&field).unwrap_or(stamp_of_cell).clone();
            let is_expected = expected.as_f64() == Some(0.0) || expected.is_same(&last);
            let content = content.first();
            if !is_expected || !content.is_none_or(|content| content.is_within(MAX_DEPTH - 1)) {
                continue;
            }
            let was = value.get(&field).cloned();
            before.insert(field.clone(), [stamp.clone(), last].into_iter().chain(was).collect());
            if stamp == stamp_of_cell {
                fields.remove(&field);
            } else {
                fields.insert(field.clone(), stamp.clone());
            }
            match content {
                Some(content) => value.insert(field, content.clone()),
                None => drop(value.remove(&field)),
            }
        }
        if before.is_empty() {
            return None;
        }
        let head = [stamp_of_cell.clone(), object_of(&value)];
        let version = self.0.get(2).cloned();
        let rest: Vec<Json> = if fields.is_empty() {
            version.into_iter().collect()
        } else {
            [version.unwrap_or_else(|| 1.into()), object_of(&fields)].into()
        };
        let undo = before.iter().map(|(field, entry)| (field.clone(), entry.clone())).collect();
        Some((head.into_iter().chain(rest).collect(), undo))
    }
}

/// A cell with a new value.
pub(crate) fn new_cell(stamp: &Text, value: Json, version: Option<&Json>) -> Json {
    let version = version.and_then(Json::as_count).filter(|version| *version > 1).map(whole);
    [stamp.into(), value].into_iter().chain(version).collect()
}

/// The entries of a patch, which expect no stamp (0).
pub(crate) fn patch_entries(
    stamp: &Text,
    set: Option<&Json>,
    removed: Option<&Json>,
) -> Vec<(Text, Json)> {
    let set =
        set.and_then(Json::as_object).into_iter().flat_map(Object::iter).map(|(field, value)| {
            (field.clone(), [0.into(), stamp.into(), value.clone()].into_iter().collect())
        });
    let removed = removed.and_then(Json::as_array).unwrap_or_default();
    let removed = removed.iter().filter_map(crate::operation::name_of);
    set.chain(removed.map(|field| (field.clone(), [0.into(), stamp.into()].into_iter().collect())))
        .collect()
}

/// By this the fields of a signature are sorted, in the order of UTF-16 units: JavaScript joins the
/// two by a comma.
fn line_of(field: &Text, stamp: &Json) -> Vec<u16> {
    let stamp = stamp.as_text().map(Text::units).into_iter().flatten();
    field.units().chain([u16::from(b',')]).chain(stamp).collect()
}

fn object_of(members: &Ordered<Text, Json>) -> Json {
    members.iter().map(|(name, value)| (name.clone(), value.clone())).collect::<Object>().into()
}

/// True if the JSON of two values is equal.
pub(crate) fn is_equal_json(one: &Json, other: &Json) -> bool {
    let [one, other]: [String; 2] = [one.to_string(), other.to_string()];
    one == other
}
