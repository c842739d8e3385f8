//! Who is on call now, and for which services.

use std::collections::HashMap;

use maud::{Markup, html};
use sea_orm::{EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::Fault;
use super::parts::{clock, short};
use super::reading::too_long;
use super::visit::path;
use catalogue::db::{Read, ReadHandle, any};
use catalogue::entity::service::Label;
use catalogue::entity::{Timestamp, on_call};

/// The maximum number of on-call entries that are read.
pub const READ: u64 = 200;
/// The number of people shown.
pub const SHOWN: usize = 8;
/// The number of services shown for somebody.
const SERVICES: usize = 3;

/// Somebody who is on call, and the ids of the services.
pub type OnCall = (on_call::Model, Vec<i64>);

/// Who is on call at `now`: for these services, or for any.
pub async fn read(db: &dyn ReadHandle, services: Option<&[i64]>, now: Timestamp) -> Result<Vec<OnCall>, Fault> {
    let mut select = on_call::Entity::find();
    if let Some(services) = services {
        select = select.filter(any(db, on_call::Column::ServiceId, services));
    }
    let read = db.all(select.order_by_desc(on_call::Column::Id).limit(READ)).await?;
    let mut people: Vec<OnCall> = Vec::new();
    for one in read.into_iter().filter(|one| one.ends_at.is_none_or(|end| end > now)) {
        let same = |(known, _): &&mut OnCall| known.name == one.name && known.ends_at == one.ends_at;
        match people.iter_mut().find(same) {
            Some((_, services)) => services.push(one.service_id),
            None => people.push((one.clone(), vec![one.service_id])),
        }
    }
    Ok(people)
}

/// The ids of the services that the card names.
pub fn shown(people: &[OnCall]) -> impl Iterator<Item = i64> {
    people.iter().take(SHOWN).flat_map(|(_, services)| services.iter().copied().take(SERVICES))
}

/// The card of who is on call.
pub fn card(people: Option<&[OnCall]>, labels: &HashMap<i64, Label>, now: Timestamp) -> Markup {
    html! {
        section.card {
            h2 #on-call { "On call now" }
            @match people {
                None => (too_long()),
                Some([]) => p.soft { "Nobody is recorded." },
                Some(people) => {
                    ul.missing { @for (person, services) in people.iter().take(SHOWN) {
                        li {
                            span {
                                strong { bdi { (short(&person.name)) } }
                                @if let Some(end) = person.ends_at { " " span.soft { "until " (clock(end, now)) } }
                                small {
                                    @for (at, id) in services.iter().take(SERVICES).enumerate() {
                                        @if at > 0 { ", " } (service(labels, *id))
                                    }
                                    @if services.len() > SERVICES { " and " (services.len() - SERVICES) " more" }
                                }
                            }
                        }
                    } }
                    @if people.len() > SHOWN { p.soft { "and " (people.len() - SHOWN) " more" } }
                },
            }
        }
    }
}

/// A link to a service.
pub fn service(labels: &HashMap<i64, Label>, id: i64) -> Markup {
    html! {
        @match labels.get(&id) {
            Some(label) => a href=(path(["services", &label.slug])) { (short(&label.name)) },
            None => "a service",
        }
    }
}
