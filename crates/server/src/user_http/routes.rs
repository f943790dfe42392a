//! The routes of users' requests.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;

use super::context::UserContext;
use super::{edge, events, participants, publish, read};
use crate::web::answers::NO_SNIFF;

/// The description of these requests.
const OPENAPI: &str = include_str!("openapi.json");

/// Maps paths to their handlers, for the public listeners.
pub(crate) fn router(context: &Arc<UserContext>) -> Router {
    about_rooms(context)
        .route_layer(from_fn_with_state(Arc::clone(context), edge::admit))
        .route("/v1/openapi.json", get(openapi))
}

/// Maps the paths of requests that other servers of a cluster pass on. They have counted the
/// address; the token is checked here.
pub(crate) fn router_of_servers(context: &Arc<UserContext>) -> Router {
    about_rooms(context).route_layer(from_fn_with_state(Arc::clone(context), edge::refuse_others))
}

fn about_rooms(context: &Arc<UserContext>) -> Router {
    Router::new()
        .route(
            "/v1/rooms/{room}/channels/{channel}/messages",
            get(read::messages).post(publish::publish),
        )
        .route("/v1/rooms/{room}/participants", get(participants::participants))
        .route("/v1/rooms/{room}/events", get(events::events))
        .with_state(Arc::clone(context))
}

async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], [NO_SNIFF], OPENAPI)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::body::Body;
    use axum::http::{Method, Request, StatusCode};
    use serde_json::Value;
    use tower_service::Service;

    use super::*;
    use crate::server::config::Config;
    use crate::server::services::Services;

    #[tokio::test]
    async fn the_description_and_the_routes_agree() {
        let services = Services::new(Config::default(), None, None).unwrap();
        let mut router = services.routes();
        let described: Value = serde_json::from_str(OPENAPI).unwrap();
        let paths = described["paths"].as_object().unwrap();
        for (path, operations) in paths {
            let uri = path.replace("{room}", "a%2Fb").replace("{channel}", "c%2Fd");
            // The answer to a method that no route has lists those that it has.
            let request = Request::builder().method(Method::PATCH).uri(uri);
            let answer = router.call(request.body(Body::empty()).unwrap()).await.unwrap();
            assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
            let allowed = answer.headers()[header::ALLOW].to_str().unwrap().to_owned();
            let allowed: BTreeSet<_> = allowed.split(',').filter(|one| *one != "HEAD").collect();
            let methods = operations.as_object().unwrap().keys().filter(|key| *key != "parameters");
            let methods: BTreeSet<_> = methods.map(|one| one.to_uppercase()).collect();
            assert_eq!(allowed, methods.iter().map(String::as_str).collect(), "{path}");
        }
        // And no route is missing in the description: this file names each once.
        let named = include_str!("routes.rs").split("mod tests").next().unwrap();
        let named = named.split('"').filter(|one| one.starts_with("/v1/"));
        assert_eq!(named.collect::<BTreeSet<_>>(), paths.keys().map(String::as_str).collect());
    }

    /// Every code of a refusal is described, and no other.
    #[test]
    fn the_description_and_the_codes_of_refusals_agree() {
        let described: Value = serde_json::from_str(OPENAPI).unwrap();
        let codes = &described["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
        let codes: BTreeSet<_> =
            codes.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        let all = super::super::refusal::CODES;
        assert_eq!(codes, all.iter().copied().collect());
    }
}
