//! Tiers and lifecycle stages.

use serde_json::json;

use crate::harness::app::{TestApp, data};

#[tokio::test]
async fn every_catalogue_begins_with_four_tiers_and_five_lifecycles() {
    let app = TestApp::start().await;
    let answer = data(&app, "{ account { tiers { alias index } lifecycles { alias index } } }").await;
    let expected = json!({ "account": {
        "tiers": [
            { "alias": "tier_1", "index": 1 }, { "alias": "tier_2", "index": 2 },
            { "alias": "tier_3", "index": 3 }, { "alias": "tier_4", "index": 4 },
        ],
        "lifecycles": [
            { "alias": "pre_alpha", "index": 1 }, { "alias": "alpha", "index": 2 }, { "alias": "beta", "index": 3 },
            { "alias": "generally_available", "index": 4 }, { "alias": "end_of_life", "index": 5 },
        ],
    } });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_new_tier_is_last_and_gets_a_slug_from_its_name() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        tierCreate(input: { name: "Tier Five" }) { tier { alias name description index } errors { message path } }
        lifecycleCreate(input: { name: "Gone", alias: "gone", description: "No more.", index: 0 }) {
            lifecycle { alias name description index } errors { message path }
        }
    }"#;
    let expected = json!({
        "tierCreate": {
            "tier": { "alias": "tier_five", "name": "Tier Five", "description": null, "index": 5 }, "errors": [],
        },
        "lifecycleCreate": {
            "lifecycle": { "alias": "gone", "name": "Gone", "description": "No more.", "index": 0 }, "errors": [],
        },
    });
    assert_eq!(data(&app, query).await, expected);
    let lists = data(&app, "{ account { tiers { alias } lifecycles { alias } } }").await;
    assert_eq!(lists["account"]["tiers"][4]["alias"], "tier_five");
    assert_eq!(lists["account"]["lifecycles"][0]["alias"], "gone");
}

#[tokio::test]
async fn an_alias_names_one_tier() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        tierCreate(input: { name: "x", alias: "tier_1" }) { tier { id } errors { message path } }
        tierUpdate(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x", alias: "tier_2" }) { tier { id } errors { message path } }
        lifecycleCreate(input: { name: "Beta" }) { lifecycle { id } errors { message path } }
    }"#;
    let error = |message: &str| json!([{ "message": message, "path": ["alias"] }]);
    let expected = json!({
        "tierCreate": { "tier": null, "errors": error("another tier has the alias \"tier_1\"") },
        "tierUpdate": { "tier": null, "errors": error("another tier has the alias \"tier_2\"") },
        "lifecycleCreate": { "lifecycle": null, "errors": error("another lifecycle has the alias \"beta\"") },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_tier_update_changes_only_the_given_fields() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        tierUpdate(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x", alias: "top", description: null }) {
            tier { alias name description index } errors { message path }
        }
        lifecycleUpdate(input: { id: "Z2lkOi8vcm9sbGNhbGwvTGlmZWN5Y2xlLzE", name: "Idea", index: 7 }) {
            lifecycle { alias name index } errors { message path }
        }
    }"#;
    let expected = json!({
        "tierUpdate": {
            "tier": { "alias": "top", "name": "Mission Critical", "description": null, "index": 1 }, "errors": [],
        },
        "lifecycleUpdate": { "lifecycle": { "alias": "pre_alpha", "name": "Idea", "index": 7 }, "errors": [] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_tier_is_refused_with_all_its_mistakes() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        tierCreate(input: { name: "", alias: "", index: -1 }) { tier { id } errors { message path } }
        tierUpdate(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x", name: null, alias: null, index: null }) {
            tier { id } errors { message path }
        }
    }"#;
    let expected = json!({
        "tierCreate": { "tier": null, "errors": [
            { "message": "name must not be empty", "path": ["name"] },
            { "message": "alias must not be empty", "path": ["alias"] },
            { "message": "index must not be negative", "path": ["index"] },
        ] },
        "tierUpdate": { "tier": null, "errors": [
            { "message": "name must not be null", "path": ["name"] },
            { "message": "alias must not be null", "path": ["alias"] },
            { "message": "index must not be null", "path": ["index"] },
        ] },
    });
    assert_eq!(data(&app, query).await, expected);
}

#[tokio::test]
async fn a_deleted_tier_leaves_its_services_without_one() {
    let app = TestApp::start().await;
    let query = r#"mutation {
        serviceCreate(input: { name: "cart", tierAlias: "tier_1", lifecycleAlias: "pre_alpha" }) { errors { path } }
        tierDelete(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x" }) { deletedTierId errors { message path } }
        lifecycleDelete(input: { id: "Z2lkOi8vcm9sbGNhbGwvTGlmZWN5Y2xlLzE" }) { deletedLifecycleId errors { message path } }
        again: tierDelete(input: { id: "Z2lkOi8vcm9sbGNhbGwvVGllci8x" }) { deletedTierId errors { message path } }
    }"#;
    let expected = json!({
        "serviceCreate": { "errors": [] },
        "tierDelete": { "deletedTierId": "Z2lkOi8vcm9sbGNhbGwvVGllci8x", "errors": [] },
        "lifecycleDelete": { "deletedLifecycleId": "Z2lkOi8vcm9sbGNhbGwvTGlmZWN5Y2xlLzE", "errors": [] },
        "again": {
            "deletedTierId": null, "errors": [{ "message": "a tier with this id does not exist on this account", "path": ["id"] }],
        },
    });
    assert_eq!(data(&app, query).await, expected);
    let read = data(&app, "{ account { services { nodes { name tier { id } lifecycle { id } } } } }").await;
    let expected = json!([{ "name": "cart", "tier": null, "lifecycle": null }]);
    assert_eq!(read["account"]["services"]["nodes"], expected);
}
