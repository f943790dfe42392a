//! The query of a request.

use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::place::After;
use super::refusal::Refusal;

/// The most messages, or participants, of a page, and their number if a request names none.
pub(super) const MOST: usize = 1000;
const USUAL: usize = 100;

/// The longest time that a request waits for news. Proxies give up a request without an answer
/// after a minute, some after half of it.
const LONGEST_WAIT: u64 = 30;

/// The parameters of a request, in their order. Each is taken once; what is left is unknown.
pub(super) struct Params(Vec<(String, String)>);

impl Params {
    pub(super) fn of(uri: &Uri) -> Result<Self, Refusal> {
        let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
        let Query(all) = query.map_err(|rejection| Refusal::bad(rejection.body_text()))?;
        Ok(Params(all))
    }

    /// All values of a parameter.
    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        self.0.extract_if(.., |(other, _)| other == name).map(|(_, value)| value).collect()
    }

    /// The value of a parameter that may be there once.
    pub(super) fn one(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let mut all = self.all(name);
        match all.len() {
            0 | 1 => Ok(all.pop()),
            _ => Err(Refusal::bad(format!("{name} is there more than once"))),
        }
    }

    /// `limit`, from 1 on.
    pub(super) fn limit(&mut self) -> Result<usize, Refusal> {
        let limit = self.number("limit", MOST as u64)?.unwrap_or(USUAL as u64);
        match limit {
            0 => Err(Refusal::bad(format!("limit: write a number from 1 to {MOST}"))),
            limit => Ok(limit as usize),
        }
    }

    /// `wait`, in seconds.
    pub(super) fn wait(&mut self) -> Result<Duration, Refusal> {
        Ok(Duration::from_secs(self.number("wait", LONGEST_WAIT)?.unwrap_or(0)))
    }

    /// `after`.
    pub(super) fn after(&mut self) -> Result<Option<After>, Refusal> {
        self.one("after")?.map(|text| After::read(&text)).transpose()
    }

    pub(super) fn number(&mut self, name: &str, most: u64) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number <= most);
        let why = || Refusal::bad(format!("{name}: write a number up to {most}"));
        number.map(Some).ok_or_else(why)
    }

    pub(super) fn is_set(&mut self, name: &str) -> Result<bool, Refusal> {
        match self.one(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Refusal::bad(format!("{name}: write true or false"))),
        }
    }

    /// `key` or `key_base64`.
    pub(super) fn key(&mut self) -> Result<Option<Vec<u8>>, Refusal> {
        match (self.one("key")?, self.one("key_base64")?) {
            (None, None) => Ok(None),
            (Some(key), None) => Ok(Some(key.into_bytes())),
            (None, Some(key)) => {
                let decoded = BASE64_STANDARD.decode(key);
                decoded.map(Some).map_err(|_| Refusal::bad("key_base64 is no base64"))
            }
            (Some(_), Some(_)) => Err(Refusal::bad("write at most one of key and key_base64")),
        }
    }

    /// Refuses parameters that no handler has taken: they would have no effect.
    pub(super) fn end(self) -> Result<(), Refusal> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::bad(format!("there is no parameter {name:?} here"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(query: &str) -> Params {
        Params::of(&format!("/?{query}").parse().unwrap()).unwrap()
    }

    #[test]
    fn parameters_are_checked() {
        let mut good = params("limit=7&wait=30&after=12&key_base64=AAE%3D&channel=a&channel=b%2Fc");
        assert_eq!(good.limit().unwrap(), 7);
        assert_eq!(good.wait().unwrap(), Duration::from_secs(30));
        assert!(good.after().unwrap().is_some());
        assert_eq!(good.key().unwrap(), Some(vec![0, 1]));
        assert_eq!(good.all("channel"), ["a", "b/c"]);
        assert!(good.end().is_ok());
        for wrong in ["limit=0", "limit=1001", "limit=-1", "limit=", "limit=1&limit=2", "limit=1e3"]
        {
            assert!(params(wrong).limit().is_err(), "{wrong}");
        }
        assert!(params("wait=31").wait().is_err() && params("wait=1.5").wait().is_err());
        assert!(params("key=a&key_base64=AAE%3D").key().is_err());
        assert!(params("key_base64=%21").key().is_err());
        assert!(params("presence=yes").is_set("presence").is_err());
        assert!(params("limt=7").end().is_err());
    }
}
