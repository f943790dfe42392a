//! The web pages of the whiteboard, the puzzle and the inspector, embedded in the program.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rust_embed::{Embed, EmbeddedFile};

use crate::answers::NO_SNIFF;

#[derive(Embed)]
#[folder = "../../web/whiteboard/dist"]
#[allow_missing = true]
struct Whiteboard;

#[derive(Embed)]
#[folder = "../../web/puzzle/dist"]
#[allow_missing = true]
struct Puzzle;

#[derive(Embed)]
#[folder = "../../web/inspector/dist"]
#[allow_missing = true]
struct Inspector;

const NOT_BUILT: &str = "<!doctype html><title>Groupwire</title><p>This server was built without its web pages. \
    Run <code>make run</code>, which builds them first.</p>";

/// Answers a request for a file: of the puzzle below `/puzzle/`, of the inspector below `/inspector/`, of the
/// whiteboard elsewhere.
pub(crate) async fn serve(uri: Uri, request: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    if ["puzzle", "inspector"].contains(&path) {
        // The page refers to its files by relative paths, so its own path has to end with a slash.
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        return Redirect::permanent(&format!("/{path}/{query}")).into_response();
    }
    match path.split_once('/') {
        Some(("puzzle", path)) => answer(Puzzle::get, path, &request),
        Some(("inspector", path)) => answer(Inspector::get, path, &request),
        _ => answer(Whiteboard::get, path, &request),
    }
}

fn answer(get: fn(&str) -> Option<EmbeddedFile>, path: &str, request: &HeaderMap) -> Response {
    let path = match path {
        "" => "index.html",
        path => path,
    };
    let Some(file) = get(path) else {
        return match path {
            "index.html" => (StatusCode::NOT_FOUND, Html(NOT_BUILT)).into_response(),
            _ => (StatusCode::NOT_FOUND, "not found\n").into_response(),
        };
    };
    // Vite puts a hash of the content into the names below assets/.
    let caching = match path.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = [
        (header::CONTENT_TYPE, content_type(path)),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
    ];
    // The build puts a gzip copy beside each file that becomes smaller by compression.
    match get(&format!("{path}.gz")).filter(|_| accepts_gzip(request)) {
        Some(file) => {
            ([NO_SNIFF], headers, [(header::CONTENT_ENCODING, "gzip")], file.data).into_response()
        }
        None => ([NO_SNIFF], headers, file.data).into_response(),
    }
}

fn accepts_gzip(request: &HeaderMap) -> bool {
    let accepted = request.get_all(header::ACCEPT_ENCODING).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').map(str::trim).eq(["gzip"]))
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
        serve(Uri::from_static(uri), HeaderMap::new()).await
    }

    #[tokio::test]
    async fn a_page_without_its_slash_is_redirected_and_keeps_its_query() {
        let response = get("/puzzle?room=attic").await;
        assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(response.headers()[header::LOCATION], "/puzzle/?room=attic");
        let response = get("/inspector?room=attic").await;
        assert_eq!(response.headers()[header::LOCATION], "/inspector/?room=attic");
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
