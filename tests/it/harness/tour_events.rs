//! The part of the tour that is about events.

use rollcall::db::Write;
use rollcall::entity::{Timestamp, event, event_delivery, event_receiver, event_subscription};
use rollcall::events;
use sea_orm::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::TestApp;

/// The ids that [`SUBSCRIPTIONS`] needs.
pub const ROWS: &[&str] = &["Core", "shop"];

/// Three subscriptions.
pub const SUBSCRIPTIONS: &str = r#"
    chat: eventSubscriptionCreate(input: {
        name: "Chat", receiverUrl: "https://hooks.example.com/a", form: slack, events: [deploy_failed], teamIds: [$Core], serviceIds: [$shop],
        tierAliases: ["tier_2"], environments: ["production"], enabled: true
    }) { eventSubscription { id } errors { message } }
    oldChat: eventSubscriptionCreate(input: {
        name: "Old", receiverUrl: "https://hooks.example.com/b", events: [deploy_failed]
    }) { eventSubscription { id } errors { message } }
    mail: eventSubscriptionCreate(input: {
        name: "Mail", receiverEmail: "bob@example.com", form: email, digest: weekly, events: [deploy_failed], teamIds: [$Core]
    }) { eventSubscription { id } errors { message } }
"#;

/// Gives the first subscription a delivery that has failed.
pub async fn failed(app: &TestApp) {
    let now = Timestamp::now();
    let done = app.db.write(async |tx| {
        use event_receiver::Column::{DeliveredAt, Error, RetryAt};
        let subscriptions = rollcall::db::Read::all(
            tx,
            event_subscription::Entity::find().order_by_asc(event_subscription::Column::Id),
        );
        let subscription = subscriptions.await?[0].id;
        let receiver = event_receiver::Entity::update_many()
            .col_expr(DeliveredAt, Expr::value(now))
            .col_expr(RetryAt, Expr::value(now))
            .col_expr(Error, Expr::value("no response within 10 s"));
        tx.exec(receiver).await?;
        let event = event::ActiveModel {
            at: Set(now),
            what: Set(event::What::Deployed),
            subject_class: Set("Service".to_owned()),
            subject_name: Set(Some("shop".to_owned())),
            detail: Set("{}".to_owned()),
            ..Default::default()
        };
        let event = tx.insert(event).await?;
        let delivery = event_delivery::ActiveModel {
            state: Set(event_delivery::State::Failed),
            next_at: Set(None),
            attempts: Set(20),
            status: Set(Some(500)),
            error: Set(Some("the receiver answered 500".to_owned())),
            ended_at: Set(Some(now)),
            ..events::delivery(subscription, &event, event::Kind::DeployFailed, now)
        };
        tx.insert(delivery).await
    });
    done.await.expect("a delivery");
}

/// One call of every mutation about events with every field of its input.
pub fn steps(id: &dyn Fn(&str) -> Value) -> Vec<(&'static str, Value)> {
    let whole = json!({
        "name": "All", "receiverUrl": "https://hooks.example.com/c", "form": "cloud_event",
        "events": ["service_created", "object_changed"], "teamIds": [id("Core")], "serviceIds": [id("shop")],
        "tierAliases": ["tier_2", "tier_3"], "environments": ["staging", "test"], "enabled": true,
    });
    let mut changed = whole.clone();
    changed["id"] = id("chat");
    let mail = json!({
        "name": "Mail", "receiverEmail": "bob@example.com", "form": "email", "digest": "daily", "events": ["service_created"],
        "teamIds": [id("Core")],
    });
    let mut mailed = mail.clone();
    mailed["id"] = id("mail");
    let of = |name: &str| json!({ "input": { "id": id(name) } });
    vec![
        ("eventSubscriptionCreate", json!({ "input": whole })),
        ("eventSubscriptionCreate", json!({ "input": mail })),
        ("eventSubscriptionUpdate", json!({ "input": changed })),
        ("eventSubscriptionUpdate", json!({ "input": mailed })),
        ("eventSubscriptionSecretRotate", of("chat")),
        ("eventSubscriptionTest", of("chat")),
        ("eventDeliveriesResend", of("chat")),
        ("eventSubscriptionDelete", of("oldChat")),
    ]
}
