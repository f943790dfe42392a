use alloc::string::ToString;

use super::*;

fn again(json: &str) -> String {
    Json::parse(json).expect(json).to_string()
}

#[test]
fn numbers_are_written_as_javascript_writes_them() {
    for (json, written) in [
        ("1.0", "1"),
        ("-0", "0"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("123456789012345680000", "123456789012345680000"),
        ("1.5e300", "1.5e+300"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.25e-7", "1.25e-7"),
        ("5e-324", "5e-324"),
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.1"),
        ("-12.75", "-12.75"),
        ("1e400", "null"),
        ("1E+2", "100"),
        // Two forms are equally near: the even one is taken.
        ("1172956277142857.25", "1172956277142857.2"),
    ] {
        assert_eq!(again(json), written, "{json}");
    }
}

#[test]
fn members_have_the_order_of_javascript() {
    assert_eq!(
        again(r#"{"b":1,"10":2,"a":3,"9":4,"b":5,"01":6,"4294967295":7,"4294967294":8,"0":9}"#),
        r#"{"0":9,"9":4,"10":2,"4294967294":8,"b":5,"a":3,"01":6,"4294967295":7}"#
    );
}

#[test]
fn texts_are_read_and_written_exactly() {
    for json in [
        r#""\"\\\b\f\n\r\t\u0000\u001f/\u007f""#,
        r#""\ud83d""#,
        r#""\ud83d-\ude42""#,
        r#"{"\udc00":["é🙂"]}"#,
    ] {
        let escaped = json.replace("\\u007f", "\u{7f}");
        assert_eq!(again(json), escaped);
    }
    assert_eq!(again(r#""\ud83d\ude42\/\u0041""#), r#""🙂/A""#);
}

#[test]
fn what_is_no_json_is_refused_where_it_is_wrong() {
    for (json, at) in [
        ("", 0),
        ("[1,]", 3),
        ("{\"a\" 1}", 5),
        ("{a:1}", 1),
        ("[1}", 2),
        ("01", 1),
        ("1.", 2),
        ("-", 1),
        ("1e", 2),
        (".5", 0),
        ("tru", 1),
        ("\"\n\"", 1),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("[1]]", 3),
        ("\u{a0}1", 0),
        ("\"a", 2),
        ("{\"a\":1,}", 7),
        ("[", 1),
    ] {
        assert_eq!(Json::parse(json), Err(JsonError { at }), "{json}");
    }
    assert_eq!(again(" \t\r\n[ 1 , { \"a\" : [ ] , \"b\" : { } } ] "), r#"[1,{"a":[],"b":{}}]"#);
}

#[test]
fn any_depth_is_read_and_needs_little_stack() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let objects = "{\"a\":".repeat(50_000) + "1,\"b\":[{}]" + &"}".repeat(50_000);
    // The stack of a thread of WebAssembly has 1 MB.
    let check = move || {
        for levels in [1, 1000, 1001, Json::DEEPEST] {
            let value = Json::parse(&nested(levels)).unwrap();
            assert_eq!(value.to_string(), nested(levels));
            assert!(value.is_within(levels) && !value.is_within(levels - 1));
            assert!(value == value.clone() && value.is_well_formed());
        }
        for json in [&nested(Json::DEEPEST + 1), &nested(1_000_000), &objects] {
            assert!(!Json::parse(json).unwrap().is_within(Json::DEEPEST));
        }
        assert!(Json::parse(&nested(1_000_000)[..1_999_999]).is_err());
        assert!(Json::parse(&objects.replace("{}]}", "{}}}")).is_err());
        let mixed = alloc::format!("[{},1,{{\"a\":2}}]", nested(9000));
        assert_eq!(Json::parse(&mixed).unwrap().at(1), Some(&Json::from(1)));
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(check).unwrap().join().unwrap();
}

#[test]
fn numbers_that_json_lacks_are_not_kept() {
    for json in ["1e400", "[-1e999]", r#"{"a":{"b":1e309}}"#] {
        assert!(!Json::parse(json).unwrap().is_within(1000), "{json}");
    }
    assert_eq!(Json::parse("9007199254740991").unwrap().as_whole(), Some(MAX_SAFE as i64));
    for json in ["9007199254740992", "1.5", "1e400", "\"1\""] {
        assert_eq!(Json::parse(json).unwrap().as_whole(), None, "{json}");
    }
}
