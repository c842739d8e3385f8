//! Which deliveries are sent next.

use rollcall::db::{Db, Write};
use rollcall::entity::event_delivery::{self as delivery, Due, Model};
use rollcall::entity::{Timestamp, event, event_subscription as subscription};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::harness::database::{Database, is_postgres};
use crate::harness::statements::{Statements, plan};

/// A subscription, and the moment of the test.
struct Waiting {
    db: Db,
    subscription: i64,
    event: event::Model,
    now: Timestamp,
    _database: Database,
}

impl Waiting {
    async fn new() -> Self {
        let database = Database::new().await;
        let db = database.open().await;
        let now = Timestamp::now();
        let own = subscription::ActiveModel {
            name: Set("All".to_owned()),
            form: Set(subscription::Form::StandardWebhook),
            host: Set("hooks.example.com".to_owned()),
            kinds: Set("object_changed".to_owned()),
            enabled: Set(true),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let event = event::ActiveModel {
            at: Set(now),
            what: Set(event::What::Tested),
            subject_class: Set("Service".to_owned()),
            detail: Set("{}".to_owned()),
            ..Default::default()
        };
        let stored =
            db.write(async |tx| Ok::<_, rollcall::db::Error>((tx.insert(own).await?, tx.insert(event).await?)));
        let (own, event) = stored.await.expect("a subscription");
        Self { db, subscription: own.id, event, now, _database: database }
    }

    /// Adds deliveries: their subjects, and in how many seconds they may be sent.
    async fn add(&self, rows: impl IntoIterator<Item = (&str, i64)>) {
        let rows = rows.into_iter().map(|(subject, seconds)| delivery::ActiveModel {
            subject: Set(subject.to_owned()),
            next_at: Set(Some(self.at(seconds))),
            ..rollcall::events::delivery(self.subscription, &self.event, event::Kind::Test, self.now)
        });
        let rows: Vec<_> = rows.collect();
        self.db.write(async |tx| tx.insert_all(rows).await).await.expect("deliveries");
    }

    fn at(&self, seconds: i64) -> Timestamp {
        Timestamp::from_micros(self.now.as_micros() + seconds * 1_000_000)
    }

    async fn due(&self, most: u64) -> Due {
        delivery::due(self.db.read(), self.subscription, self.now, most).await.expect("deliveries")
    }

    async fn end(&self, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            let row = delivery::ActiveModel {
                id: Set(id),
                next_at: Set(None),
                ended_at: Set(Some(self.now)),
                state: Set(delivery::State::Delivered),
                ..Default::default()
            };
            self.db
                .write(async |tx| {
                    tx.exec(delivery::Entity::update_many().set(row.clone()).filter(delivery::Column::Id.eq(id))).await
                })
                .await
                .expect("ended");
        }
    }
}

/// The subjects and the places of what was found: the first delivery that was added has the place 1.
fn told(due: &Due) -> Vec<(String, Vec<i64>)> {
    let told = due.subjects.iter().map(|all| (all[0].subject.clone(), all.iter().map(|one| one.id).collect()));
    told.collect()
}

#[tokio::test]
async fn of_each_subject_all_that_is_found_is_sent_in_order() {
    let waiting = Waiting::new().await;
    waiting.add([("a", -9), ("b", -9), ("a", -8), ("c", -7), ("a", -6), ("later", 60)]).await;
    let due = waiting.due(10).await;
    let own = |name: &str, ids: &[i64]| (name.to_owned(), ids.to_vec());
    assert_eq!(told(&due), [own("a", &[1, 3, 5]), own("b", &[2]), own("c", &[4])]);
    assert!(!due.is_full && due.delayed.is_empty());
    let due = waiting.due(3).await;
    assert_eq!(told(&due), [own("a", &[1, 3]), own("b", &[2])]);
    assert!(due.is_full);
}

#[tokio::test]
async fn what_is_behind_a_refused_delivery_waits_and_keeps_nobody_waiting() {
    let waiting = Waiting::new().await;
    // The first was refused. More than are taken at once are behind it, and one of another subject is the newest.
    waiting.add([("bad", 60)].into_iter().chain([("bad", -9); 30]).chain([("good", -1)])).await;
    let mut sent = Vec::new();
    for _ in 0..3 {
        let due = waiting.due(10).await;
        sent.extend(told(&due));
        waiting
            .db
            .write(async |tx| {
                for delayed in &due.delayed {
                    delivery::hold_back(tx, delayed).await?;
                }
                Ok::<_, rollcall::db::Error>(())
            })
            .await
            .expect("held back");
        waiting.end(due.subjects.iter().flatten().map(|one| one.id)).await;
    }
    assert_eq!(sent, [("good".to_owned(), vec![32])]);
}

/// Sends again and again, with some refusals, and checks the order.
#[tokio::test]
async fn the_order_of_a_subject_is_kept_whatever_is_refused() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut waiting = Waiting::new().await;
    let (mut ended, mut added) = (Vec::<Model>::new(), 0);
    for _ in 0..600 {
        if added < 120 {
            let more: Vec<&str> = (0..random.usize(0..6)).map(|_| ["a", "b", "c", "d"][random.usize(0..4)]).collect();
            added += more.len();
            waiting.add(more.into_iter().map(|subject| (subject, 0))).await;
        }
        if added >= 120 && ended.len() == added {
            break;
        }
        let due = waiting.due(random.u64(1..8)).await;
        for delayed in &due.delayed {
            waiting.db.write(async |tx| delivery::hold_back(tx, delayed).await).await.expect("held back");
        }
        for subject in due.subjects {
            for one in subject {
                if random.u8(0..4) == 0 {
                    let later = waiting.at(random.i64(1..5));
                    let row = delivery::Entity::update_many()
                        .col_expr(delivery::Column::NextAt, sea_orm::sea_query::Expr::value(later))
                        .filter(delivery::Column::Id.eq(one.id));
                    waiting.db.write(async |tx| tx.exec(row.clone()).await).await.expect("refused");
                    break;
                }
                waiting.end([one.id]).await;
                ended.push(one);
            }
        }
        waiting.now = waiting.at(1);
    }
    assert_eq!(ended.len(), added, "all are sent");
    for subject in ["a", "b", "c", "d"] {
        let ids: Vec<i64> = ended.iter().filter(|one| one.subject == subject).map(|one| one.id).collect();
        assert!(ids.is_sorted() && ids.len() > 10, "{subject}: {ids:?}");
    }
}

/// What waits may be [`delivery::MOST_WAITING`]: what is done for each portion may not grow with it.
#[tokio::test]
async fn neither_what_is_due_nor_what_has_ended_is_looked_for_in_all_that_waits() {
    let database = Database::new().await;
    let mut db = database.open().await;
    let asked = db.clone();
    let statements = Statements::of(&mut db);
    delivery::due(db.read(), 1, Timestamp::now(), 10).await.expect("deliveries");
    db.write(async |tx| delivery::prune(tx, 1, 10).await).await.expect("deliveries");
    let mut found = Vec::new();
    for statement in statements.take() {
        if statement.sql.contains("LIMIT") && statement.sql.starts_with("SELECT") {
            found.push(plan(&asked, statement).await);
        }
    }
    assert!(
        found.iter().any(|plan| plan.contains("event_delivery_due") && plan.contains("event_delivery_waiting")),
        "{found:?}"
    );
    assert!(found.iter().any(|plan| plan.contains("event_delivery_ended")), "{found:?}");
    // PostgreSQL sorts those of one moment.
    assert!(is_postgres() || !found.iter().any(|plan| plan.contains("B-TREE")), "{found:?}");
}
