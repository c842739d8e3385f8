//! Favourites: services with a star, and the ready views of one's own things.

use rollcall::db::{Read, Write};
use rollcall::entity::favourite::{self, MOST};
use rollcall::entity::user::{self, Role};
use rollcall::entity::{Timestamp, service};
use sea_orm::{EntityTrait, Set};
use serde_json::{Value, json};

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

const ADD: &str = "mutation($alias: String!) {
    serviceFavouriteAdd(service: { alias: $alias }) { service { name favourite } errors { message path } }
}";
const REMOVE: &str = "mutation($alias: String!) {
    serviceFavouriteRemove(service: { alias: $alias }) { service { name favourite } errors { message path } }
}";
const MINE: &str =
    "{ account { services(favourite: true, sortBy: name_ASC) { nodes { name favourite } totalCount } } }";
const NOBODY: &str = "an API token belongs to nobody: saved views and favourites belong to the person who is signed in";

async fn catalogue(app: &TestApp) {
    let made = r#"mutation {
        core: teamCreate(input: { name: "Core", members: { email: "viewer@example.com" } }) { errors { message } }
        led: teamCreate(input: { name: "Led", managerEmail: "viewer@example.com" }) { errors { message } }
        other: teamCreate(input: { name: "Other" }) { errors { message } }
        cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "core" } }) { errors { message } }
        mail: serviceCreate(input: { name: "Mail", ownerInput: { alias: "led" } }) { errors { message } }
        bus: serviceCreate(input: { name: "Bus", ownerInput: { alias: "other" } }) { errors { message } }
        lone: serviceCreate(input: { name: "Lone" }) { errors { message } }
    }"#;
    data(app, made).await;
}

/// The names on the page of services.
async fn shown(browser: &Browser<'_>, query: &str) -> Vec<&'static str> {
    let page = browser.page(&format!("/services?{query}")).await;
    ["Bus", "Cart", "Lone", "Mail"].into_iter().filter(|name| page.contains(&format!("\">{name}</a>"))).collect()
}

#[tokio::test]
async fn a_service_is_a_favourite_of_whoever_marks_it() {
    let app = TestApp::start().await;
    let (vera, mem) = (Browser::of(&app, Role::Viewer).await, Browser::of(&app, Role::User).await);
    catalogue(&app).await;
    for alias in ["mail", "bus", "mail"] {
        let added = vera.query(ADD, json!({ "alias": alias })).await["data"]["serviceFavouriteAdd"].clone();
        assert_eq!((&added["errors"], &added["service"]["favourite"]), (&json!([]), &json!(true)), "{added}");
    }
    let mine = vera.query(MINE, json!({})).await["data"]["account"]["services"].clone();
    let of = |name: &str| json!({ "name": name, "favourite": true });
    assert_eq!(mine, json!({ "nodes": [of("Bus"), of("Mail")], "totalCount": 2 }));
    assert_eq!(mem.query(MINE, json!({})).await["data"]["account"]["services"]["totalCount"], 0, "of her alone");
    let all = "{ account { services(sortBy: name_ASC) { nodes { favourite } } } }";
    let stars = vera.query(all, json!({})).await["data"]["account"]["services"]["nodes"].clone();
    assert_eq!(stars, json!([true, false, false, true].map(|favourite| json!({ "favourite": favourite }))));
    for _ in 0..2 {
        let removed = vera.query(REMOVE, json!({ "alias": "bus" })).await["data"]["serviceFavouriteRemove"].clone();
        assert_eq!((&removed["errors"], &removed["service"]["favourite"]), (&json!([]), &json!(false)), "{removed}");
    }
    let unknown = vera.query(ADD, json!({ "alias": "none" })).await["data"]["serviceFavouriteAdd"].clone();
    assert_eq!(unknown["errors"][0]["path"], json!(["service", "alias"]));
    // It is gone with the service, and with its person.
    data(&app, r#"mutation { serviceDelete(input: { alias: "mail" }) { errors { message } } }"#).await;
    assert_eq!(vera.query(MINE, json!({})).await["data"]["account"]["services"]["totalCount"], 0);
    vera.query(ADD, json!({ "alias": "cart" })).await;
    let id = app.query(r#"{ account { user(input: { email: "viewer@example.com" }) { id } } }"#, json!({})).await;
    let delete = "mutation($id: ID!) { userDelete(user: { id: $id }) { errors { message } } }";
    app.query(delete, json!({ "id": id["data"]["account"]["user"]["id"] })).await;
    assert!(app.db.read().all(favourite::Entity::find()).await.expect("favourites").is_empty());
}

#[tokio::test]
async fn a_token_has_no_favourites_and_no_teams_and_a_person_at_most_two_hundred() {
    let app = TestApp::start().await;
    let vera = Browser::of(&app, Role::Viewer).await;
    catalogue(&app).await;
    let refused = app.query(ADD, json!({ "alias": "cart" })).await["data"]["serviceFavouriteAdd"].clone();
    assert_eq!(refused, json!({ "service": null, "errors": [{ "message": NOBODY, "path": ["base"] }] }));
    for argument in ["favourite", "ofMyTeams"] {
        let query = format!("{{ account {{ services({argument}: true) {{ totalCount }} }} }}");
        let refused = app.query(&query, json!({})).await["errors"][0]["message"].clone();
        assert!(refused.as_str().is_some_and(|message| message.contains(NOBODY)), "{refused}");
        let query = format!(
            "{{ account {{ all: services({argument}: false) {{ totalCount }} services({argument}: null) {{ totalCount }} }} }}"
        );
        let all = app.query(&query, json!({})).await["data"]["account"].clone();
        assert_eq!((&all["all"]["totalCount"], &all["services"]["totalCount"]), (&json!(4), &json!(4)));
    }
    let now = Timestamp::now();
    let user_id = user::by_email(app.db.read(), "viewer@example.com").await.expect("a read").expect("a user").id;
    let services = (0..MOST).map(|number| service::ActiveModel {
        name: Set(format!("svc {number}")),
        slug: Set(format!("svc_{number}")),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    });
    let services: Vec<_> = services.collect();
    let written = app.db.write(async |db| {
        let mut ids = Vec::new();
        for service in services {
            ids.push(db.insert(service).await?.id);
        }
        let rows = ids.into_iter().map(|service_id| favourite::ActiveModel {
            user_id: Set(user_id),
            service_id: Set(service_id),
            created_at: Set(now),
            ..Default::default()
        });
        db.insert_all(rows.collect()).await
    });
    written.await.expect("favourites");
    let refused = vera.query(ADD, json!({ "alias": "cart" })).await["data"]["serviceFavouriteAdd"]["errors"].clone();
    assert_eq!(refused[0]["message"], "you can have at most 200 favourites; remove one first");
}

#[tokio::test]
async fn stars_are_buttons_on_the_list_and_on_the_page_and_favourites_are_on_the_first_page() {
    let app = TestApp::start().await;
    let mut vera = Browser::of(&app, Role::Viewer).await;
    catalogue(&app).await;
    assert!(!vera.page("/").await.contains("id=\"favourites\""));
    let page = vera.page("/services?sort=name_DESC").await;
    let action = "formaction=\"/services/cart/favourite\"";
    assert!(page.contains(action) && page.contains("id=\"stars\""), "{page}");
    let form = [("do", "add"), ("from", "list"), ("query", "sort=name_DESC")];
    let answer = vera.post("/services/cart/favourite", &form).await;
    let same = "/services?sort=name_DESC&done=saved#star-cart";
    assert_eq!(answer.header("location"), Some(same), "the same list, at the same star");
    assert!(page.contains("id=\"star-cart\""), "{page}");
    let page = vera.page("/services/cart").await;
    assert!(page.contains("action=\"/services/cart/favourite\"") && page.contains("value=\"remove\""), "{page}");
    assert_eq!(shown(&vera, "favourites=1").await, ["Cart"]);
    let home = vera.page("/").await;
    assert!(home.contains("id=\"favourites\"") && home.contains("href=\"/services/cart\""), "{home}");
    assert_eq!(vera.post("/services/cart/favourite", &[("do", "remove")]).await.location(), "/services/cart");
    let none = vera.page("/services?favourites=1").await;
    assert!(none.contains("Press the star beside a service"), "{none}");
    assert_eq!(vera.post("/services/cart/favourite", &[("do", "burn")]).await.status, 400);
    assert_eq!(vera.post("/services/none/favourite", &[("do", "add")]).await.status, 400);
    let elsewhere = vera.post_from("/services/cart/favourite", &[("do", "add")], &[("sec-fetch-site", "cross-site")]);
    assert_eq!(elsewhere.await.status, 403, "a form of another site");
}

#[tokio::test]
async fn ready_views_show_what_my_teams_own() {
    let app = TestApp::start().await;
    let vera = Browser::of(&app, Role::Viewer).await;
    catalogue(&app).await;
    assert_eq!(shown(&vera, "mine=1").await, ["Cart", "Mail"], "as a member and as the manager");
    assert_eq!(shown(&vera, "mine=1&search=ma").await, ["Mail"]);
    // Nothing but a team helps whoever has none.
    let nobody = Browser::of(&app, Role::Admin).await;
    for page in ["/services?mine=1", "/services?mine=1&search=ma"] {
        let page = nobody.page(page).await;
        assert!(page.contains("You belong to no team.") && !page.contains("shorten the search"), "{page}");
    }
    assert!(vera.page("/services?mine=1&search=xyzzyq").await.contains("shorten the search"));
    let page = vera.page("/services").await;
    for ready in ["/services?mine=1", "/services?favourites=1"] {
        assert!(page.contains(&format!("<a href=\"{ready}\">")), "{page}");
    }
    let count = "{ account { services(ofMyTeams: true) { totalCount nodes { name } } } }";
    let found = vera.query(count, json!({})).await["data"]["account"]["services"].clone();
    assert_eq!(found["totalCount"], 2, "{found}");
    let both = vera.query("{ account { services(ofMyTeams: true, favourite: true) { totalCount } } }", json!({})).await;
    assert_eq!(both["data"]["account"]["services"]["totalCount"], json!(0));
    assert_eq!(both.get("errors"), None::<&Value>);
    let file = vera.page("/services.csv?mine=1&columns=alias").await;
    assert_eq!(file, "name,alias\r\nCart,cart\r\nMail,mail\r\n");
}
