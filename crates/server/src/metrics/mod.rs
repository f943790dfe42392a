//! `GET /metrics`: the figures of `/status` and more, for Prometheus. It names no rooms and no
//! people.

pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod sampling;
pub(crate) mod sources;
pub(crate) mod status;
mod text;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::cluster::figures::Counters;
use crate::durable::Durable;
use crate::figures::events::Events;
use crate::figures::figure::Kind;
use crate::rooms::context::RoomContext;
use crate::web::answers::{NO_SNIFF, NO_STORE};
use sources::Sources;
use status::Report;
use text::{MEDIA_TYPE, Text};

/// Answers with all metrics.
pub(crate) async fn serve(State(sources): State<Arc<Sources>>) -> impl IntoResponse {
    let report = Report::of(&sources).await;
    let RoomContext { events, durable, .. } = sources.rooms();
    let mut text = write(&report, events, durable.as_deref(), sources.is_ready());
    if let Some(cluster) = &sources.cluster {
        write_cluster(cluster, &mut text);
    }
    let text = text.finish();
    ([(header::CONTENT_TYPE, MEDIA_TYPE)], [NO_SNIFF, NO_STORE], text)
}

fn write(report: &Report, events: &Events, durable: Option<&Durable>, is_ready: bool) -> Text {
    let mut text = Text::default();
    text.family(Kind::Gauge, "build_info", "The version of the server.");
    text.sample(&[("version", report.version)], 1.0);
    text.family(Kind::Gauge, "ready", "1 if the server may be sent new clients, as /readyz says.");
    text.sample(&[], f64::from(u8::from(is_ready)));
    text.figures("", report.process.figures());
    text.figures("", report.totals.figures());
    text.figures("", report.addresses.figures());
    text.figures("", report.arrivals.figures());
    text.figures("yjs_", report.yjs.figures());
    text.family(Kind::Gauge, "connections", "Open connections.");
    for (transport, count) in events.connections.all() {
        text.sample(&[("transport", transport)], count as f64);
    }
    text.family(Kind::Counter, "refusals", "Clients that were refused, by the error's name.");
    for (code, count) in events.refusals.all() {
        text.sample(&[("code", code)], count as f64);
    }
    const DISCONNECTS: &str =
        "Participants whose connection was closed because of an error, by the error's name.";
    text.family(Kind::Counter, "disconnects", DISCONNECTS);
    for (code, count) in events.disconnects.all() {
        text.sample(&[("code", code)], count as f64);
    }
    text.family(Kind::Counter, "rooms_closed", "Rooms that were closed, by the reason.");
    for (reason, count) in events.closings.all() {
        text.sample(&[("reason", reason)], count as f64);
    }
    const JOINS: &str = "From a client's first packet to its place in the room.";
    text.histogram("join", JOINS, &events.joins);
    text.histogram("tick_lag", "How late rooms did what was due.", &events.lags);
    if let (Some(store), Some(durable)) = (&report.store, durable) {
        text.figures("store_", store.figures.figures());
        text.family(Kind::Gauge, "store_state", "1 for the state of the store, 0 for the others.");
        for (name, is_it) in store.states() {
            text.sample(&[("state", name)], f64::from(u8::from(is_it)));
        }
        let store = &durable.stores.monitor;
        text.histogram("store_commit", "Commits, syncs included.", store.commit_times());
        text.histogram("store_sync", "Syncs of the store's files.", store.sync_times());
    }
    if let Some(webhook) = &report.webhook {
        text.figures("webhook_", webhook.figures());
    }
    text
}

fn write_cluster(cluster: &Counters, text: &mut Text) {
    text.figures("cluster_", cluster.figures().figures());
    text.histogram("cluster_append", "Appends to the engine's logs.", &cluster.appends);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::DurableConfig;
    use crate::server::config::Config;
    use crate::server::services::Services;
    use crate::webhook::WebhookConfig;

    #[tokio::test]
    async fn the_documentation_lists_every_metric() {
        let durable = Some(DurableConfig::in_memory());
        let webhook = Some(WebhookConfig::example());
        let config = Config { durable, webhook, ..Config::default() };
        let sources = Services::new(config, None, None).unwrap().sources;
        let report = Report::of(&sources).await;
        let RoomContext { events, durable, .. } = sources.rooms();
        let mut text = write(&report, events, durable.as_deref(), true);
        write_cluster(&Counters::default(), &mut text);
        let text = text.finish();
        let documentation = include_str!("../../../../docs/operations/monitoring.md");
        let lists = |name: &str| {
            ["`", "{"].iter().any(|end| documentation.contains(&format!("`{name}{end}")))
        };
        let mut count = 0;
        for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE groupwire_")) {
            let name = line.split(' ').next().unwrap();
            let field = name.strip_suffix("_total").unwrap_or(name);
            let parts = ["store", "webhook", "yjs", "cluster"];
            let part = parts.iter().find(|part| field.starts_with(&format!("{part}_")));
            let in_part = part.map_or(field.to_owned(), |_| field.replacen("_", ".", 1));
            let is_listed = lists(&format!("groupwire_{name}")) || lists(field) || lists(&in_part);
            assert!(is_listed, "{name}");
            count += 1;
        }
        assert!(count > 30, "{count}");
    }

    #[tokio::test]
    async fn a_server_that_stops_or_whose_store_failed_is_not_ready() {
        let durable = Some(DurableConfig::in_memory());
        let config = Config { durable, ..Config::default() };
        let Services { sources, .. } = Services::new(config, None, None).unwrap();
        assert!(sources.is_ready());
        sources.rooms().durable.as_ref().unwrap().fail("the disk is gone".to_owned());
        assert!(!sources.is_ready());
        let services = Services::new(Config::default(), None, None).unwrap();
        assert!(services.sources.is_ready());
        services.shut_down().await;
        assert!(!services.sources.is_ready());
    }
}
