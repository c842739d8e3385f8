//! The forms that create and change campaigns, set their dates, and give them checks.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::ask::{ask, or_null, settled, unanswered};
use super::campaigns::address;
use super::form::{self, MARKDOWN, Mistakes, Text};
use super::group_form::owner_id;
use super::layout::{below, layout};
use super::offers::{Offered, Offers};
use super::operations::campaign_filters::Filter;
use super::operations::campaign_to_change::{Campaign, Check, Level};
use super::operations::types::Moment;
use super::operations::{
    CampaignChoices, CampaignCreateInput, CampaignStatusEnum as Status, CampaignToChange, CampaignUpdateInput,
    CopyCheck, CreateCampaign, DeleteCampaign, DeleteCheck, EndCampaign, Mistake, ScheduleCampaign, UnscheduleCampaign,
    UpdateCampaign,
};
use super::parts::{delete_button, pages};
use super::picker;
use super::standard_parts::name;
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::Timestamp;
use catalogue::entity::campaign::{Column, Entity};
use catalogue::entity::field_rule::FieldRules;
use catalogue::entity::user::Role;

/// The form, from top to bottom: column, label, hint, height.
const SHOWN: [(Column, &str, &str, u8); Entity::FIELDS.len()] = [
    (Column::Name, "Name", "", 1),
    (Column::OwnerId, "Owner (name or alias)", "", 1),
    (Column::ProjectBrief, "What it is for", MARKDOWN, 6),
];

/// The fields of the other forms, named by the paths that the API uses for mistakes about them.
const FILTER: &str = "filterId";
const START: &str = "startDate";
const TARGET: &str = "targetDate";
const CHECK: &str = "checkIds";

/// Shows the form for a new campaign.
pub async fn new(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    Ok(Answer::page(new_form(site, visit, &Mistakes::none()).await?))
}

/// Creates a campaign.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    let (form, owner) = (form::sent::<Entity>(&visit.form), owner_id(site, visit, visit.form.given("ownerId")).await?);
    let made = match owner {
        Err(mistakes) => Err(mistakes),
        Ok(owner) => {
            let input = CampaignCreateInput {
                name: form.get("name"),
                owner_id: owner.as_deref().unwrap_or_default(),
                filter_id: or_null(visit.form.given(FILTER)),
                project_brief: or_null(form.given("projectBrief")),
            };
            let done = ask(site, visit, CreateCampaign { input }).await?.campaign_create.ok_or_else(unanswered)?;
            settled(done.errors).map(|()| done.campaign)
        }
    };
    match made {
        Ok(campaign) => {
            let id = campaign.ok_or_else(unanswered)?.id;
            Ok(Answer::redirect(format!("{}/edit#checks", address(&id))))
        }
        Err(mistakes) => Ok(Answer::refused(new_form(site, visit, &mistakes).await?)),
    }
}

/// A campaign, and what its forms offer.
struct Found {
    campaign: Campaign,
    filters: Vec<Filter>,
    /// With the checks that can be copied.
    levels: Vec<Level>,
    teams: Offers,
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<Found, Fault> {
    let found = ask(site, visit, CampaignToChange { id, after: visit.query.given("after") }).await?.account;
    let levels = found.rubric.map(|rubric| rubric.levels.nodes).unwrap_or_default();
    Ok(Found {
        campaign: found.campaign.ok_or(Fault::NotFound)?,
        filters: found.campaign_filters.filters.nodes,
        levels,
        teams: Offers::read(site, visit, &[Offered::Teams]).await?,
    })
}

/// Shows the forms of the campaign with this id.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let found = find(site, visit, id).await?;
    let fields = picker::spoken(site, visit, fields_of(&found.campaign)).await?;
    Ok(Answer::page(edit_form(visit, &found, &fields, &Mistakes::none())))
}

/// Changes, schedules, ends or deletes a campaign, or adds or removes a check.
pub async fn change(site: &Site, visit: &Visit, id: &str, what: &str) -> Result<Answer, Fault> {
    let found = find(site, visit, id).await?;
    let form = &visit.form;
    let done = match what {
        "edit" => save(site, visit, id).await?,
        "schedule" => schedule(site, visit, id).await?,
        _ => {
            let errors: Option<Vec<Mistake>> = match what {
                "unschedule" => {
                    ask(site, visit, UnscheduleCampaign { id }).await?.campaign_unschedule.map(|done| done.errors)
                }
                "end" => ask(site, visit, EndCampaign { id }).await?.campaign_end.map(|done| done.errors),
                "check" => {
                    let copy = CopyCheck { id, check: form.get(CHECK) };
                    ask(site, visit, copy).await?.checks_copy_to_campaign.map(|done| done.errors)
                }
                // Must be a check of this campaign: the form may name any id.
                "check-delete" if !found.campaign.checks.nodes.iter().any(|check| check.id == form.get("id")) => {
                    return Err(Fault::NotFound);
                }
                "check-delete" => {
                    ask(site, visit, DeleteCheck { id: form.get("id") }).await?.check_delete.map(|done| done.errors)
                }
                "delete" => ask(site, visit, DeleteCampaign { id }).await?.campaign_delete.map(|done| done.errors),
                _ => return Err(Fault::NotFound),
            };
            settled(errors.ok_or_else(unanswered)?)
        }
    };
    match done {
        Ok(()) => Ok(Answer::redirect(match what {
            "delete" => "/standards".to_owned(),
            "check" | "check-delete" => format!("{}/edit#checks", address(id)),
            _ => address(id),
        })),
        Err(mistakes) => {
            let kept = picker::spoken(site, visit, fields_of(&found.campaign)).await?;
            let shown = match what {
                "edit" => form.clone(),
                "schedule" => kept.and(START, form.get(START)).and(TARGET, form.get(TARGET)),
                _ => kept,
            };
            Ok(Answer::refused(edit_form(visit, &found, &shown, &mistakes)))
        }
    }
}

async fn save(site: &Site, visit: &Visit, id: &str) -> Result<Result<(), Mistakes>, Fault> {
    let form = form::sent::<Entity>(&visit.form);
    let owner = match owner_id(site, visit, visit.form.given("ownerId")).await? {
        Ok(owner) => owner,
        Err(mistakes) => return Ok(Err(mistakes)),
    };
    let input = CampaignUpdateInput {
        id,
        name: MaybeUndefined::Value(form.get("name")),
        // A campaign whose team was deleted has none, and may stay so.
        owner_id: owner.as_deref().map_or(MaybeUndefined::Undefined, MaybeUndefined::Value),
        filter_id: or_null(visit.form.given(FILTER)),
        project_brief: or_null(form.given("projectBrief")),
    };
    let done = ask(site, visit, UpdateCampaign { input }).await?.campaign_update.ok_or_else(unanswered)?;
    Ok(settled(done.errors))
}

/// Sets the dates: the target is the end of its day.
async fn schedule(site: &Site, visit: &Visit, id: &str) -> Result<Result<(), Mistakes>, Fault> {
    let mut mistakes = Mistakes::none();
    let mut moment = |field: &'static str, time: &str| {
        let moment = Timestamp::parse(&format!("{}T{time}Z", visit.form.get(field)));
        moment.map_err(|_| mistakes.push(field, "Write a day like 2026-11-21.")).ok().map(Moment)
    };
    let dates = (moment(START, "00:00:00"), moment(TARGET, "23:59:59"));
    let (Some(start), Some(target)) = dates else { return Ok(Err(mistakes)) };
    let done = ask(site, visit, ScheduleCampaign { id, start, target }).await?.campaign_schedule_update;
    Ok(settled(done.ok_or_else(unanswered)?.errors))
}

/// The current values as form fields.
fn fields_of(campaign: &Campaign) -> Fields {
    let day = |moment: &Option<Moment>| {
        moment.map(|moment| moment.0.to_string().chars().take(10).collect::<String>()).unwrap_or_default()
    };
    Fields::one("name", &campaign.name)
        .and("ownerId", campaign.owner.as_ref().map_or("", |owner| &owner.alias))
        .and("projectBrief", campaign.project_brief.as_deref().unwrap_or_default())
        .and(FILTER, campaign.filter.as_ref().map_or("", |filter| &filter.id))
        .and(START, &day(&campaign.start_date))
        .and(TARGET, &day(&campaign.target_date))
}

async fn new_form(site: &Site, visit: &Visit, mistakes: &Mistakes) -> Result<Markup, Fault> {
    let filters = ask(site, visit, CampaignChoices {}).await?.account.filters.nodes;
    let teams = Offers::read(site, visit, &[Offered::Teams]).await?;
    let options = filters.iter().map(|filter| (&*filter.id, &*filter.name)).collect();
    let main = html! {
        p { "A campaign is a set of checks that services are to pass by a date. It begins as a draft." }
        form method="post" action="/new/campaign" {
            (fields(options, &teams, &visit.form, mistakes))
            div.save { button { "Create campaign" } }
        }
    };
    Ok(layout(visit, "New campaign", main))
}

/// The fields of the campaign itself. `filters` are its choices: id and name.
fn fields(mut filters: Vec<(&str, &str)>, teams: &Offers, form: &Fields, mistakes: &Mistakes) -> Markup {
    filters.insert(0, ("", "all services"));
    let hint = "A saved filter says which services it is for.";
    let own = [START, TARGET, CHECK].iter().fold(mistakes.except(FILTER), |own, field| own.except(field));
    let offered = |column: Column| match column {
        Column::OwnerId => teams.owned(Offered::Teams),
        _ => Vec::new(),
    };
    html! {
        (form::entries::<Entity, _>(SHOWN, offered, form, &own))
        (form::pick(FILTER, "For", hint, &filters, form, mistakes))
    }
}

fn edit_form(visit: &Visit, found: &Found, form: &Fields, mistakes: &Mistakes) -> Markup {
    let Found { campaign, filters, .. } = found;
    let to = |what: &str| format!("{}/{what}", address(&campaign.id));
    let mut options: Vec<(&str, &str)> = filters.iter().map(|filter| (&*filter.id, &*filter.name)).collect();
    // The filters that the list offers are not all.
    let own = campaign.filter.as_ref().map(|filter| (&*filter.id, &*filter.name));
    options.extend(own.filter(|(id, _)| filters.iter().all(|filter| filter.id != *id)));
    let main = html! {
        form method="post" action=(to("edit")) {
            (fields(options, &found.teams, form, mistakes))
            div.save { button { "Save" } }
        }
        (dates(campaign, form, mistakes))
        (checks(visit, found, mistakes))
        h2 { "Delete" }
        p { "Its checks are deleted with it." }
        (delete_button(&to("delete"), "Delete", &campaign.name, "Delete this campaign?"))
    };
    below(visit, (&address(&campaign.id), &campaign.name), &format!("Edit {}", campaign.name), main)
}

fn dates(campaign: &Campaign, form: &Fields, mistakes: &Mistakes) -> Markup {
    let to = |what: &str| format!("{}/{what}", address(&campaign.id));
    let field = |name, label| Text { name, label, hint: "", kind: "date", required: true }.show(form, mistakes);
    html! {
        h2 #dates { "Dates" }
        @if campaign.status == Status::Ended { p { "It has ended." } } @else {
            form method="post" action=(to("schedule")) {
                (field(START, "Start (UTC)"))
                (field(TARGET, "Target: the last day (UTC)"))
                button { "Set dates" }
            }
            div.actions {
                @if campaign.start_date.is_some() {
                    form method="post" action=(to("unschedule")) { button.quiet { "Remove dates" } }
                }
                @if matches!(campaign.status, Status::InProgress | Status::Delayed) {
                    (delete_button(&to("end"), "End it now", &campaign.name, "End this campaign? It cannot begin again."))
                }
            }
        }
    }
}

fn checks(visit: &Visit, found: &Found, mistakes: &Mistakes) -> Markup {
    let Found { campaign, levels, .. } = found;
    let to = |what: &str| format!("{}/{what}", address(&campaign.id));
    let checks_of_level = |level: &Level| {
        let named = |check: &Check| (check.id.clone(), format!("{} ({})", check.name, name(level.name.as_deref())));
        level.checks.iter().flatten().map(named).collect::<Vec<_>>()
    };
    let options: Vec<(String, String)> = levels.iter().flat_map(checks_of_level).collect();
    let options: Vec<(&str, &str)> = options.iter().map(|(id, text)| (&**id, &**text)).collect();
    html! {
        h2 #checks { "Checks" }
        @if campaign.checks.nodes.is_empty() { p.soft { "It has no checks yet." } } @else {
            form method="post" action=(to("check-delete")) { ul { @for check in &campaign.checks.nodes { li {
                a href=(path(["standards", &check.id])) { (check.name) } " "
                button.quiet name="id" value=(check.id) { "Remove" span.hidden { " " (check.name) } }
            } } } }
            (pages(visit, &to("edit"), &campaign.checks.page_info))
        }
        @if campaign.status != Status::Ended && !options.is_empty() {
            form.filters method="post" action=(to("check")) {
                (form::select(CHECK, "Copy a check", "The copy is changed on its own.", &options, &visit.form, mistakes))
                button.quiet { "Add check" }
            }
        }
    }
}
