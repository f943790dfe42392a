//! The web pages of the whiteboard, the puzzle and the inspector, embedded in the program.
//! `build.rs` collects their files.

use std::borrow::Cow;
use std::io::{self, Read};

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use flate2::read::GzDecoder;
use rust_embed::Embed;

use super::answers::{NO_SNIFF, NOTHING_HERE, is_websocket_wanted};

// `Pages`: the folders `whiteboard`, `puzzle` and `inspector`, and `assets` with what they share.
// Most files are there only compressed.
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

const NOT_BUILT: &str = "<!doctype html><title>Groupwire</title><p>This server was built without its web pages. \
    Run <code>make run</code>, which builds them first.</p>";

const WRONG_COPY: &str = "this file cannot be unpacked: the server was built wrongly\n";

/// Answers a request of the public listener for a file: of the puzzle below `/puzzle/`, of the
/// whiteboard elsewhere.
pub(crate) async fn serve(method: Method, uri: Uri, request: HeaderMap) -> Response {
    if is_websocket_wanted(&request) {
        return (StatusCode::NOT_FOUND, NOTHING_HERE).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    let page = match path.split_once('/') {
        None if path == "puzzle" => with_slash(path, &uri),
        Some(("puzzle", path)) => answer("puzzle", path, &request),
        _ => answer("whiteboard", path, &request),
    };
    to_be_read(&method, page)
}

/// Answers a request of the administration listener for a file: of the inspector and the
/// administration below `/inspector/`.
pub(crate) async fn serve_inspector(method: Method, uri: Uri, request: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let page = match path.split_once('/') {
        None if ["", "inspector"].contains(&path) => with_slash("inspector", &uri),
        None if path == "admin" => Redirect::permanent("/inspector/admin.html").into_response(),
        Some(("inspector", path)) => answer("inspector", path, &request),
        Some(("assets", _)) => answer("inspector", path, &request),
        _ => (StatusCode::NOT_FOUND, "not found\n").into_response(),
    };
    to_be_read(&method, page)
}

/// The answer for a file, or the refusal of a method that does not read it.
fn to_be_read(method: &Method, page: Response) -> Response {
    let reads = *method == Method::GET || *method == Method::HEAD;
    match reads || page.status().is_client_error() {
        true => page,
        false => {
            let why = "a file can only be read: GET or HEAD\n";
            (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], why).into_response()
        }
    }
}

/// Redirects to a page's own path, which ends with a slash because the page refers to its files by
/// relative paths.
fn with_slash(page: &str, uri: &Uri) -> Response {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("/{page}/{query}")).into_response()
}

fn answer(page: &str, path: &str, request: &HeaderMap) -> Response {
    let path = match path {
        "" => "index.html",
        path => path,
    };
    // Vite puts a hash of the content into the names below assets/.
    let is_asset = path.starts_with("assets/");
    let (file, caching) = match is_asset {
        true => (path.to_owned(), "public, max-age=31536000, immutable"),
        false => (format!("{page}/{path}"), "no-cache"),
    };
    let headers = [
        (header::CONTENT_TYPE, content_type(path)),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
    ];
    let copies = CODINGS.iter().filter_map(|&(coding, extension)| {
        let quality = quality(request, coding);
        Pages::get(&format!("{file}.{extension}"))
            .filter(|_| quality > 0.0)
            .map(|copy| (quality, coding, copy))
    });
    // Of equal qualities the first, which is the smaller copy.
    match copies.reduce(|best, other| if other.0 > best.0 { other } else { best }) {
        Some((_, coding, copy)) => {
            ([NO_SNIFF], headers, [(header::CONTENT_ENCODING, coding)], copy.data).into_response()
        }
        None => match plain(&file) {
            Ok(Some(data)) => ([NO_SNIFF], headers, data).into_response(),
            Ok(None) if path == "index.html" => {
                (StatusCode::NOT_FOUND, Html(NOT_BUILT)).into_response()
            }
            Ok(None) => (StatusCode::NOT_FOUND, NOTHING_HERE).into_response(),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, WRONG_COPY).into_response(),
        },
    }
}

/// A file without compression. `None` if there is none of this name.
fn plain(file: &str) -> io::Result<Option<Cow<'static, [u8]>>> {
    if let Some(file) = Pages::get(file) {
        return Ok(Some(file.data));
    }
    let Some(copy) = Pages::get(&format!("{file}.gz")) else { return Ok(None) };
    let mut data = Vec::new();
    GzDecoder::new(&copy.data[..]).read_to_end(&mut data)?;
    Ok(Some(data.into()))
}

/// The content codings of compressed copies with the extensions of their names, the one with the
/// smallest copies first.
const CODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// How much the client of a request wants a content coding (RFC 9110, section 12.5.3): from 0, not
/// at all, to 1.
fn quality(request: &HeaderMap, coding: &str) -> f32 {
    let accepted = request.get_all(header::ACCEPT_ENCODING).iter();
    let mut any = 0.0;
    for item in accepted.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','))
    {
        let (name, parameter) = item.split_once(';').unwrap_or((item, ""));
        let weight = parameter.trim().strip_prefix("q=").map(|weight| weight.trim().parse());
        let weight = weight.map_or(1.0, |weight| weight.unwrap_or(0.0));
        match name.trim() {
            name if name.eq_ignore_ascii_case(coding) => return weight,
            "*" => any = weight,
            _ => {}
        }
    }
    any
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(uri: &'static str) -> Response {
        serve(Method::GET, Uri::from_static(uri), HeaderMap::new()).await
    }

    #[tokio::test]
    async fn a_page_without_its_slash_is_redirected_and_keeps_its_query() {
        let response = get("/puzzle?room=attic").await;
        assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(response.headers()[header::LOCATION], "/puzzle/?room=attic");
        for path in ["/?room=attic", "/inspector?room=attic"] {
            let response =
                serve_inspector(Method::GET, Uri::from_static(path), HeaderMap::new()).await;
            assert_eq!(response.headers()[header::LOCATION], "/inspector/?room=attic");
        }
        let response =
            serve_inspector(Method::GET, Uri::from_static("/admin"), HeaderMap::new()).await;
        assert_eq!(response.headers()[header::LOCATION], "/inspector/admin.html");
    }

    #[tokio::test]
    async fn each_listener_has_its_own_pages() {
        for path in ["/inspector", "/inspector/", "/inspector/index.html"] {
            assert_eq!(get(path).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
        for path in ["/index.html", "/puzzle/", "/whiteboard/index.html", "/metrics"] {
            let response =
                serve_inspector(Method::GET, Uri::from_static(path), HeaderMap::new()).await;
            assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn the_quality_of_a_content_coding_is_read() {
        for (accepted, br, gzip) in [
            ("gzip, deflate, br, zstd", 1.0, 1.0),
            ("GZIP;q=0.5,br; q=0.25", 0.25, 0.5),
            ("br;q=0, *;q=0.1", 0.0, 0.1),
            ("gzip;q=wrong", 0.0, 0.0),
            ("identity", 0.0, 0.0),
        ] {
            let request =
                HeaderMap::from_iter([(header::ACCEPT_ENCODING, accepted.parse().unwrap())]);
            assert_eq!(
                [quality(&request, "br"), quality(&request, "gzip")],
                [br, gzip],
                "{accepted}"
            );
        }
        assert_eq!(quality(&HeaderMap::new(), "gzip"), 0.0);
    }

    #[test]
    fn a_client_without_content_codings_gets_the_same_file() {
        for file in Pages::iter().filter(|name| name.ends_with(".gz")) {
            let file = file.strip_suffix(".gz").unwrap();
            let unpacked = plain(file).unwrap().unwrap();
            assert!(!unpacked.is_empty() && !unpacked.starts_with(&[0x1f, 0x8b]), "{file}");
        }
        assert!(plain("assets/none.js").unwrap().is_none());
    }

    #[tokio::test]
    async fn a_page_serves_no_files_of_another_page() {
        for uri in [
            "/puzzle/../index.html",
            "/puzzle/assets/none.js",
            "/assets/none.js",
            "/puzzle/puzzle/",
        ] {
            assert_eq!(get(uri).await.status(), StatusCode::NOT_FOUND, "{uri}");
        }
    }
}
