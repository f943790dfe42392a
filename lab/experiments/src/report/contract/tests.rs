use crate::report::{Saved, page};

#[test]
fn contracts_are_shown_beside_what_was_promised() {
    let row = |ablation: &str, mer: f64, met: bool| {
        format!(
            r#"{{"setup":"table1","loss":"rand20","ablation":"{ablation}","channel":"telepointer","target":0.2,
            "deadline_ms":100,"feasible":true,"mer":{mer},"met":{met},"p99_ms":97.0,"participants":4,
            "wire_bytes_per_message":50,"plain_wire_bytes_per_message":200,
            "aggregated_wire_bytes_per_message":80,"repeat_bytes":3.5,"verified":true}}"#
        )
        .replace('\n', " ")
    };
    let rows = [row("none", 0.15, true), row("no-afec", 0.31, false)].join("\n");
    let mut saved = Saved::default();
    saved.add("contract.json".as_ref(), rows.as_bytes()).unwrap();
    assert!(saved.not_understood.is_empty(), "{:?}", saved.not_understood);
    let page = page(&saved);
    for text in
        ["Do channels get", "telepointer", "15.0 %", "25.0 %", "62.5 %", "3.5 bytes", "no-afec"]
    {
        assert!(page.contains(text), "{text}");
    }
}
