//! Expressions and messages: what they find, and what becomes of those that would not end.

use std::time::{Duration, Instant};

use rollcall::evaluation::{self, Evaluated, Expressions, Language, MESSAGE, NAMES, One};

/// Evaluates a check on an event.
async fn evaluate(event: &str, selector: &str, condition: &str, message: Option<&str>) -> Evaluated {
    let expressions = Expressions {
        selector: selector.to_owned(),
        condition: condition.to_owned(),
        message: message.map(str::to_owned),
    };
    let mut evaluated = all(event, vec![expressions]).await;
    evaluated.pop().flatten().expect("an answer in time")
}

async fn all(event: &str, checks: Vec<Expressions>) -> Vec<Option<Evaluated>> {
    evaluation::use_program(env!("CARGO_BIN_EXE_rollcall").into());
    evaluation::of_event(event.to_owned(), checks).await.expect("a process that evaluates")
}

const EVENT: &str = r#"{"results":[{"service":"cart","open":0},{"service":"billing","open":3}],"tool":"scan"}"#;

#[tokio::test]
async fn expressions_name_services() {
    for (event, selector, expected) in [
        (EVENT, ".results[].service", Ok(&["cart", "billing"][..])),
        (EVENT, "[.results[].service]", Ok(&["cart", "billing"])),
        (EVENT, "[.results[] | select(.open > 0) | .service]", Ok(&["billing"])),
        (EVENT, ".tool, [.tool, \"other\"]", Ok(&["scan", "other"])),
        (EVENT, ".missing", Ok(&[])),
        (EVENT, "empty", Ok(&[])),
        (EVENT, "[]", Ok(&[])),
        (EVENT, "\"  \"", Ok(&[])),
        ("\"cart\"", ".", Ok(&["cart"])),
        (EVENT, ".results", Err("serviceSelector: it must give texts and lists of texts, and gave {")),
        (EVENT, "7", Err("serviceSelector: it must give texts and lists of texts, and gave 7")),
        (EVENT, ".tool.name", Err("serviceSelector: cannot")),
        (EVENT, "error(\"mine\")", Err("serviceSelector: mine")),
        (EVENT, "halt", Err("serviceSelector: it stops the evaluation")),
        (EVENT, ".results[", Err("serviceSelector: it is not jq: ")),
        (EVENT, "$nothing", Err("serviceSelector: the variable $nothing is not defined")),
        (EVENT, "nothing(1)", Err("serviceSelector: the filter nothing is not defined")),
        (EVENT, "import \"a\" as a; a", Err("serviceSelector: ")),
        (EVENT, "input", Err("serviceSelector: the filter input is not defined")),
        ("{", ".", Err("the event cannot be read as JSON")),
    ] {
        let found = evaluate(event, selector, "true", None).await;
        match expected {
            Ok(names) => assert!(found.fault.is_none() && found.names == names, "{selector}: {found:?}"),
            Err(why) => assert!(found.fault.as_ref().is_some_and(|fault| fault.starts_with(why)), "{found:?}"),
        }
    }
    let many = |count: usize| format!("[range({count}) | \"service-\\(.)\"]");
    assert_eq!(evaluate("1", &many(NAMES), "true", None).await.ones.len(), NAMES);
    let found = evaluate("1", &many(NAMES + 1), "true", None).await;
    assert_eq!(found.fault.as_deref(), Some("serviceSelector: it names more than 1000 services"));
}

#[tokio::test]
async fn expressions_say_whether_a_service_passes() {
    let passed = |passed| One { passed, ..One::default() };
    for (condition, cart, billing) in [
        (".results[] | select(.service == $ctx.alias) | .open == 0", true, false),
        (".results[$ctx.index].open == 0", true, false),
        ("any(.results[]; .service == $ctx.alias and .open == 0)", true, false),
        ("$ctx.alias == \"billing\"", false, true),
        ("true, false", false, false),
        ("empty", false, false),
        ("null", false, false),
        ("0", true, true),
        ("\"\"", true, true),
    ] {
        let found = evaluate(EVENT, ".results[].service", condition, None).await;
        assert_eq!(found.ones, [passed(cart), passed(billing)], "{condition}");
    }
    let found =
        evaluate(EVENT, ".results[].service", "if $ctx.index == 0 then true else error(\"no\") end", None).await;
    assert_eq!(found.ones[1].fault.as_deref(), Some("no"));
    assert!(found.ones[0].passed && found.fault.is_none(), "{found:?}");
    // The environment of the server is not theirs.
    let found = evaluate(EVENT, ".tool", "(env | length) < 2 and env.HOME == null", None).await;
    assert!(found.ones[0].passed, "{found:?}");
}

#[tokio::test]
async fn messages_are_written_in_liquid() {
    let long = "x".repeat(MESSAGE + 10);
    for (message, expected) in [
        ("plain", "plain"),
        ("{% if check.passed %}ok{% else %}bad{% endif %}", "ok"),
        ("{{ ctx.alias }} by {{ data.tool }}: {{ data.results[ctx.index].open }}", "cart by scan: 0"),
        ("{{ check.status }} {{ data.tool | upcase }}", "passed SCAN"),
        ("{% for one in data.results %}{{ one.service }} {% endfor %}", "cart billing"),
        ("{{ data.missing }}", "The message cannot be written: "),
        ("{% include 'a' %}", "The message cannot be written: "),
        ("{{ data", "The message cannot be written: "),
        ("a\u{0}b", "a b"),
        (&long, &long[..MESSAGE]),
        ("{% for i in (1..100000) %}0123456789{% endfor %}", &"0123456789".repeat(MESSAGE / 10)),
    ] {
        let found = evaluate(EVENT, ".results[0].service", "true", Some(message)).await;
        let written = found.ones[0].message.clone().unwrap_or_default();
        assert!(written == expected || expected.ends_with(": ") && written.starts_with(expected), "{written}");
        assert!(found.ones[0].passed, "{message}");
    }
}

/// Expressions that would not end, or would end the process.
const HOSTILE: [&str; 22] = [
    "[limit(1000000000; repeat(1))]",
    "repeat(1)",
    "\"x\" * 1000000000",
    "[range(1e18)]",
    "range(1e18) | empty",
    "def f: f; f",
    "def f: 1 + f; f",
    "def f: [f]; f",
    "def f: f, f; f",
    "reduce range(1e9) as $i (.; [., .])",
    "reduce range(1e9) as $i (\"x\"; . + .)",
    "last(range(1e12))",
    "[range(1e7)] | sort | group_by(.) | length > 0 | not",
    "(\"(a*)*b\" * 100) as $r | (\"a\" * 100000) | test($r)",
    "(\"a{1,1000}\" * 50) as $r | (\"a\" * 100000) | test($r)",
    "[range(1e6) | tostring] | join(\",\") | explode | implode | ascii_downcase | . * 1000 | length < 0",
    "[recurse(if . == null then null else [.] end)]",
    "until(false; .)",
    "last(while(true; .))",
    "[[range(1000)], [range(1000)], [range(1000)]] | last(combinations)",
    "reduce range(1e6) as $i (3; . * .)",
    "limit(1e9; repeat(\"x\" * 1000)) | empty",
];

#[tokio::test]
async fn hostile_expressions_end_with_an_error() {
    let mut wrong = Vec::new();
    for hostile in HOSTILE {
        let began = Instant::now();
        let found = evaluate("null", "\"cart\"", hostile, None).await;
        assert!(began.elapsed() < Duration::from_secs(8), "{hostile}: {:?}", began.elapsed());
        let fault = found.fault.clone().or_else(|| found.ones.first()?.fault.clone());
        let is_limit = |fault: &String| ["it takes", "it needs", "it recurses"].iter().any(|is| fault.starts_with(is));
        if !fault.as_ref().is_some_and(is_limit) || found.ones.iter().any(|one| one.passed) {
            wrong.push((hostile, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn hostile_texts_end_with_an_error() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    // A deep event.
    let found = evaluate(&nested, "\"cart\"", "true", Some("{{ data }}")).await;
    assert!(found.fault.is_some() || found.ones[0].message.is_some(), "{found:?}");
    for (language, text) in [
        (Language::Jq, deep("(", ")")),
        (Language::Jq, deep("[", "]")),
        (Language::Jq, "-".repeat(100_000)),
        (Language::Jq, "def f: ".repeat(100_000)),
        (Language::Liquid, "{% if 1 %}".repeat(50_000)),
        (Language::Liquid, "{% for a in (1..9) %}".repeat(50_000)),
        (Language::Liquid, format!("{{{{ a{} }}}}", ".a[a".repeat(50_000))),
    ] {
        evaluation::use_program(env!("CARGO_BIN_EXE_rollcall").into());
        let texts = vec![(language, text.clone()), (Language::Jq, ".".to_owned())];
        let mistakes = evaluation::mistakes(texts, Instant::now() + evaluation::BATCH).await;
        let mistakes = mistakes.expect("a process that evaluates");
        assert!(mistakes[0].is_some() && mistakes[1].is_none(), "{text:.40}: {mistakes:?}");
    }
    for template in [
        "{% for a in (1..1000000000) %}{% endfor %}",
        "{% for a in (1..100000) %}{% for b in (1..100000) %}{% assign c = a %}{% endfor %}{% endfor %}",
        "{% assign a = 'xxxxxxxxxx' %}{% for b in (1..100) %}{% assign a = a | append: a %}{% endfor %}",
        "{% tablerow a in (1..1000000000) %}{% endtablerow %}",
    ] {
        let found = evaluate("null", "\"cart\"", "true", Some(template)).await;
        let one = &found.ones[0];
        assert!(one.fault.is_some() || one.message.is_some(), "{template}: {found:?}");
    }
}

#[tokio::test]
async fn a_text_that_is_not_read_in_time_is_a_mistake_and_is_read_another_time() {
    evaluation::use_program(env!("CARGO_BIN_EXE_rollcall").into());
    let texts = || vec![(Language::Jq, ".in_time".to_owned()), (Language::Liquid, "{{ in_time }}".to_owned())];
    let read = async |end: Instant| evaluation::mistakes(texts(), end).await.expect("a process that evaluates");
    let late = read(Instant::now()).await;
    let is_late = |mistake: &Option<String>| mistake.as_ref().is_some_and(|why| why.ends_with("takes too long"));
    assert!(late.len() == 2 && late.iter().all(is_late), "{late:?}");
    assert_eq!(read(Instant::now() + evaluation::BATCH).await, [None, None]);
    // What is known is not read again.
    assert_eq!(read(Instant::now()).await, [None, None]);
}

#[tokio::test]
async fn a_hostile_check_does_not_keep_others_from_being_evaluated() {
    let expressions = |condition: &str| Expressions {
        selector: ".results[].service".to_owned(),
        condition: condition.to_owned(),
        message: Some("{{ ctx.alias }}".to_owned()),
    };
    let bomb = "if $ctx.index == 0 then true else \"x\" * 1000000000 end";
    let found = all(EVENT, [bomb, "true", "def f: 1 + f; f", ".tool"].map(expressions).to_vec()).await;
    let found: Vec<Evaluated> = found.into_iter().map(|one| one.expect("time")).collect();
    assert!(found[0].ones[0].passed && found[0].ones[1].fault.is_some(), "{found:?}");
    for one in [&found[1], &found[3]] {
        assert!(one.fault.is_none() && one.ones.iter().all(|one| one.passed), "{found:?}");
        assert_eq!(one.ones[1].message.as_deref(), Some("billing"));
    }
    assert!(found[2].fault.is_some(), "{found:?}");
}
