//! People are found by fields that name them, and in the list of users, by name and by email address.

use rollcall::db::{self, Write};
use rollcall::entity::Timestamp;
use rollcall::entity::user::{self, Role};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use crate::harness::app::{TestApp, data};
use crate::harness::browser::Browser;

/// A catalogue with people, and with more services that begin with the name of one than a search looks at.
async fn crowded() -> TestApp {
    let app = TestApp::start().await;
    let invite = |at: usize, email: &str, name: &str| {
        format!("u{at}: userInvite(email: \"{email}\", input: {{ name: \"{name}\" }}) {{ errors {{ message }} }} ")
    };
    let mut people: String =
        (0..120).map(|at| invite(at, &format!("p{at}@example.com"), &format!("Person {at:03}"))).collect();
    people += &invite(200, "lena.f@example.com", "Lena <b>Fischer");
    people += &invite(201, "left@example.com", "Lena Left");
    let services: String = (0..250)
        .map(|at| format!("s{at}: serviceCreate(input: {{ name: \"Lena {at:03}\" }}) {{ errors {{ message }} }} "))
        .collect();
    for create in [people, services] {
        for (_, done) in data(&app, &format!("mutation {{ {create} }}")).await.as_object().expect("payloads") {
            assert_eq!(done["errors"], json!([]));
        }
    }
    let left = app.db.write(async |tx| {
        let left = user::Entity::update_many().filter(user::Column::Email.eq("left@example.com"));
        tx.exec(left.col_expr(user::Column::DeactivatedAt, Expr::value(Timestamp::now()))).await?;
        Ok::<_, db::Error>(())
    });
    left.await.expect("a deactivated user");
    app
}

#[tokio::test]
async fn people_are_found_by_name_and_email_address_among_many_services() {
    let app = crowded().await;
    let viewer = Browser::of(&app, Role::Viewer).await;
    let lena = "data-value=\"lena.f@example.com\">Lena &lt;b&gt;Fischer</a>";
    for term in ["lena", "Lena+Fi", "fischer", "fisher", "lena.f%40ex", "LENA.F%40EXAMPLE.COM"] {
        let found = viewer.part(&format!("/search?of=users&q={term}"), "results").await;
        assert_eq!(found.status, 200, "{term}");
        let list = found.text();
        assert!(list.starts_with("<div id=\"results\">") && list.contains(lena), "{term}: {list}");
        assert!(
            !list.contains("/services/") && !list.contains("left@"),
            "no services, and nobody who has left: {list}"
        );
        // Without the script it is a page.
        let page = viewer.page(&format!("/search?of=users&q={term}")).await;
        assert!(page.contains(lena) && page.contains("name=\"of\" value=\"users\""), "{term}: {page}");
    }
    // Whoever may not list the users comes back from one of them, too.
    let person = viewer.page("/users/2").await;
    assert!(person.contains("<p class=\"crumbs\"><a href=\"/search?of=users\">Search for people</a></p>"), "{person}");
    let all = viewer.part("/search?of=users&q=Person", "results").await;
    assert_eq!(all.text().matches("<li>").count(), 100);
    assert!(all.text().contains("100 results. There may be more."), "{all:?}");
    assert!(viewer.part("/search?of=users&q=xyzzyq", "results").await.text().contains("Nobody matches."));
    assert!(viewer.page("/search?of=users").await.contains("Finds people by name or email address."));
    let long = viewer.get(&format!("/search?of=users&q={}", "x".repeat(256))).await;
    assert!(long.status == 400 && long.text().contains("at most 255"), "{long:?}");
    // Fields of other things take what the search of everything finds.
    assert!(viewer.page("/search?of=services&q=lena+001").await.contains("href=\"/services/lena_001\""));
    // Whoever may not see people finds none.
    assert_eq!(Browser::new(&app).get("/search?of=users&q=lena").await.place(), "/sign-in");
}

#[tokio::test]
async fn the_search_for_people_has_the_budget_of_a_page() {
    let app = TestApp::with(&["--max-rows", "10"]).await;
    let refused = Browser::of(&app, Role::Viewer).await.part("/search?of=users&q=viewer", "results").await;
    assert_eq!(refused.status, 503, "{refused:?}");
}

#[tokio::test]
async fn the_field_for_whoever_takes_over_searches_for_people() {
    let app = TestApp::start().await;
    let admin = Browser::of(&app, Role::Admin).await;
    let query = r#"mutation {
        userInvite(email: "ben@example.com", input: { name: "Ben" }) { user { id } errors { message } }
        teamCreate(input: { name: "Core", managerEmail: "ben@example.com" }) { errors { message } }
    }"#;
    data(&app, query).await;
    let page = admin.page("/users/2").await;
    let field = page.split("<input").find(|field| field.contains("name=\"successor\"")).expect("the field");
    assert!(field.contains("data-find=\"users\"") && field.contains("list=\"list-successor\""), "{field}");
}

/// The row of a user in the list of users.
fn row<'a>(page: &'a str, email: &str) -> &'a str {
    let table = page.split_once("aria-label=\"Users\"").unwrap_or_else(|| panic!("no table: {page}")).1;
    let row = table.split("<tr>").find(|row| row.contains(email));
    row.unwrap_or_else(|| panic!("{email} is not listed: {page}"))
}

#[tokio::test]
async fn an_administrator_finds_users_and_sees_their_teams_and_last_sign_in() {
    let app = crowded().await;
    let admin = Browser::of(&app, Role::Admin).await;
    let teams: String = ["Billing", "Core", "Data", "<i>Edge"]
        .map(|name| {
            let member = "{ user: { email: \"lena.f@example.com\" } }";
            format!(
                "{}: teamCreate(input: {{ name: \"{name}\", members: [{member}] }}) {{ errors {{ message }} }} ",
                name.replace("<i>", "")
            )
        })
        .concat();
    for (_, done) in data(&app, &format!("mutation {{ {teams} }}")).await.as_object().expect("payloads") {
        assert_eq!(done["errors"], json!([]));
    }
    let page = admin.page("/users?q=lena").await;
    let lena = row(&page, "lena.f@example.com");
    assert!(lena.contains("Lena &lt;b&gt;Fischer") && lena.contains(">never<"), "{lena}");
    // Phones show the address too. What one does with a user is behind a word, so that no row is a row of buttons.
    assert!(lena.contains("<small>lena.f@example.com</small>") && lena.contains("<td>member</td>"), "{lena}");
    let (before, managed) = lena.split_once("<details><summary>Manage").expect("a word");
    assert!(!before.contains("<form") && !before.contains("<button"), "{lena}");
    for form in ["/role\"", "/link\"", "/delete\""] {
        assert!(managed.contains(form), "{form}: {lena}");
    }
    assert!(lena.contains("&lt;i&gt;Edge</a>, <a href=\"/teams/billing\">Billing</a>"), "{lena}");
    assert!(lena.contains("</a> and 1 more") && !lena.contains(">Data<"), "{lena}");
    let left = row(&page, "left@example.com");
    assert!(left.contains("deactivated") && left.contains(">none<"), "{left}");
    assert!(page.contains("2 results") && !page.contains("p001@example.com"), "{page}");
    assert!(page.contains("value=\"lena\""), "{page}");
    // Whoever has signed in has a time.
    let own = admin.page("/users?q=admin%40example").await;
    assert!(row(&own, "admin@example.com").contains("<time "), "{own}");

    let many = admin.page("/users?q=Person").await;
    assert_eq!(many.matches("id=\"role-").count(), 50, "{many}");
    assert!(many.contains("The best 50 are listed."), "{many}");
    assert!(admin.page("/users?q=xyzzyq").await.contains("Nobody matches."));
    let long = admin.get(&format!("/users?q={}", "x".repeat(256))).await;
    let wrong = long.text().split_once("id=\"wrong-q\"").expect("a mark").1;
    assert!(long.status == 400 && wrong.contains("The text has 256 characters; at most 255 are allowed."), "{long:?}");
    assert!(long.text().contains("value=\"xxx"), "it can be shortened: {long:?}");
    assert!(!many.contains("aria-sort") && !many.contains("sort=email"), "the best come first: {many}");
    let sorted = admin.page("/users?sort=email_ASC").await;
    assert!(sorted.contains("aria-sort=\"ascending\"") && sorted.contains("sort=email_DESC\">Email"), "{sorted}");
    // Without a term, all are listed by pages.
    let first = admin.page("/users").await;
    assert!(first.matches("id=\"role-").count() == 50 && first.contains("Next page"), "{first}");
    assert!(first.contains(">123 users</p>"), "all are counted, not those of the page: {first}");
    assert_eq!(Browser::of(&app, Role::User).await.get("/users?q=lena").await.status, 403);
}

#[tokio::test]
async fn a_generated_catalogue_has_members_whom_one_can_reach_and_lifecycles() {
    let app = TestApp::start().await;
    rollcall::generate::catalogue(&app.db, 150, |_| {}).await.expect("a catalogue");
    let query = r#"{ account {
        teams { nodes { memberships { nodes { role user { email contacts { address } } } } } }
        users { totalCount }
        usual: services(lifecycleAlias: "generally_available") { totalCount }
        beta: services(lifecycleAlias: "beta") { totalCount }
    } }"#;
    let found = data(&app, query).await["account"].take();
    let teams = found["teams"]["nodes"].as_array().expect("teams");
    let member = |number: usize, role: &str| {
        let contacts = json!([{ "address": format!("@person{number}") }]);
        json!({ "role": role, "user": { "email": format!("person{number}@example.com"), "contacts": contacts } })
    };
    let roles = ["Developer", "Developer", "Tester", "Product owner"];
    for (place, team) in teams.iter().enumerate() {
        let members: Vec<_> = roles.iter().zip(place * 4 + 1..).map(|(role, number)| member(number, role)).collect();
        assert_eq!(team["memberships"]["nodes"], json!(members));
    }
    assert_eq!((teams.len(), &found["users"]["totalCount"]), (2, &json!(10)), "two managers and eight members");
    assert_eq!((&found["usual"]["totalCount"], &found["beta"]["totalCount"]), (&json!(111), &json!(16)));
    // What deploys and entries of who is on call name is somebody: the page of a team shows its members.
    let page = Browser::of(&app, Role::Viewer).await.page("/teams/team-1").await;
    assert!(page.contains("Person 1") && page.contains("@person1"), "{page}");
}
