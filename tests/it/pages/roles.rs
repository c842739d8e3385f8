//! Every page and every form of the application, for everybody: nobody who is signed in, and each role, a team member both of
//! the team that owns things and of none, and a member both of that team and of none under owner-only writes. Who may open or
//! do something can, what is refused changes nothing, and whoever may not change a thing is shown no form for it.
//!
//! The routes are read from the code of the pages, so a new one without a row here is a mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hyper::Method;
use rollcall::db::{Read, Write};
use rollcall::entity::audit::Actor;
use rollcall::entity::token::Scope;
use rollcall::entity::user::{self, Role};
use rollcall::entity::{
    Timestamp, audit, event_delivery, event_receiver, event_subscription, feed, identity, session, sign_in_link,
    suggestion, token,
};
use rollcall::graphql::field::id::{self, Id};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};
use crate::harness::browser::Browser;
use crate::harness::integration;
use crate::harness::rows::{Rows, rows};
use crate::harness::webhook::Endpoint;

/// Who visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Nobody,
    Viewer,
    /// A member of the team that owns things.
    Own,
    /// A team member of no team.
    Others,
    User,
    StandardsAdmin,
    Admin,
    /// A member, under owner-only writes, of the team that owns things.
    HeldOwn,
    /// The same of no team.
    HeldOthers,
}

impl Who {
    /// The role that the user was given.
    fn role(self) -> Option<Role> {
        Some(match self {
            Self::Nobody => return None,
            Self::Viewer => Role::Viewer,
            Self::Own | Self::Others => Role::TeamMember,
            Self::User | Self::HeldOwn | Self::HeldOthers => Role::User,
            Self::StandardsAdmin => Role::StandardsAdmin,
            Self::Admin => Role::Admin,
        })
    }

    /// Whether the server has owner-only writes.
    fn is_held(self) -> bool {
        matches!(self, Self::HeldOwn | Self::HeldOthers)
    }

    /// The role whose rights the user has.
    fn acts_as(self) -> Option<Role> {
        if self.is_held() { Some(Role::TeamMember) } else { self.role() }
    }

    /// Whether the user is in no team, and things that belong to a person are somebody else's.
    fn is_outside(self) -> bool {
        matches!(self, Self::Others | Self::HeldOthers)
    }
}

/// Who may open a page or send a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// Everybody, signed in or not.
    Everybody,
    /// Whoever is signed in.
    SignedIn,
    /// Whoever it belongs to, whatever their role. For [`Who::is_outside`] and [`Who::Nobody`] it is somebody else's.
    Person,
    /// Team members and above. Whoever may not change the thing is led to the page that shows it, which says whose it is.
    Team,
    /// Members, and team members whose team owns it.
    Owner,
    /// Members.
    Member,
    /// Standards administrators.
    Standards,
    /// Administrators.
    Admin,
}

impl May {
    fn allows(self, who: Who) -> bool {
        let Some(role) = who.acts_as() else { return self == Self::Everybody };
        match self {
            Self::Everybody | Self::SignedIn => true,
            Self::Person => !who.is_outside(),
            Self::Team => role >= Role::TeamMember,
            Self::Owner => role >= Role::User || matches!(who, Who::Own | Who::HeldOwn),
            Self::Member => role >= Role::User,
            Self::Standards => role >= Role::StandardsAdmin,
            Self::Admin => role == Role::Admin,
        }
    }
}

use May::{Admin, Everybody, Member, Owner, Person, SignedIn, Standards, Team};

/// The pages: their paths, and who may open them. `{…}` stands for something that is made, see [`World::make`].
const PAGES: &[(&str, May)] = &[
    ("", SignedIn),
    ("assets/{asset}", Everybody),
    ("reference", Everybody),
    ("reference/{type}", Everybody),
    ("sign-in", Everybody),
    ("sign-in/openid", Everybody),
    ("sign-in/openid/callback", Everybody),
    ("sign-in/{key}", Everybody),
    ("account", SignedIn),
    ("integrations", SignedIn),
    ("integrations/new", Member),
    ("integrations/{integration}", SignedIn),
    ("tokens", Admin),
    ("users", Admin),
    ("users/{person}", SignedIn),
    ("audit", Admin),
    ("changes/{change}/revert", SignedIn),
    ("views", SignedIn),
    ("views/{view}", SignedIn),
    ("views/{view}/edit", SignedIn),
    ("infrastructure", SignedIn),
    ("infrastructure/{resource}", SignedIn),
    ("repositories", SignedIn),
    ("repositories/{repository}", SignedIn),
    ("repositories/{own-repository}", SignedIn),
    ("definitions", SignedIn),
    ("new/tier", Member),
    ("new/lifecycle", Member),
    ("definitions/tiers/{tier}/edit", Member),
    ("definitions/lifecycles/{stage}/edit", Member),
    ("new/property-definition", Member),
    ("definitions/properties/{property}/edit", Member),
    ("new/filter", Member),
    ("definitions/filters/{filter}/edit", Member),
    ("documents/{document}", SignedIn),
    ("explorer", SignedIn),
    ("services.csv", SignedIn),
    ("delivery", SignedIn),
    ("deploys", SignedIn),
    ("deploys.csv", SignedIn),
    ("search", SignedIn),
    ("suggestions", SignedIn),
    ("events", SignedIn),
    ("events/{subscription}", SignedIn),
    ("events/{subscription}/edit", Team),
    ("new/event-subscription", Owner),
    ("standards", SignedIn),
    ("standards/campaigns/{campaign}", SignedIn),
    ("standards/campaigns/{campaign}/edit", Standards),
    ("standards/scorecards/{scorecard}", SignedIn),
    ("standards/scorecards/{scorecard}/edit", Standards),
    ("standards/{check}", SignedIn),
    ("standards/{check}/edit", Standards),
    ("new/campaign", Standards),
    ("new/check", Standards),
    ("new/check/{kind}", Standards),
    ("new/level", Standards),
    ("new/category", Standards),
    ("new/scorecard", Standards),
    ("services", SignedIn),
    ("services/{service}", SignedIn),
    ("services/{service}/deploys", SignedIn),
    ("services/{service}/deploys.csv", SignedIn),
    ("services/{service}/standards", SignedIn),
    ("services/{service}/graph", SignedIn),
    ("services/{service}/history", SignedIn),
    ("services/{service}/history.csv", SignedIn),
    ("services/{service}/contacts", SignedIn),
    ("services/{service}/contacts/{contact}", Team),
    ("services/{service}/tools", SignedIn),
    ("services/{service}/tools/{tool}", Team),
    ("services/{service}/properties", SignedIn),
    ("services/{service}/dependencies", SignedIn),
    ("services/{service}/repositories", SignedIn),
    ("services/{service}/on-call", SignedIn),
    ("services/{service}/answer/{question}", Team),
    ("services/{service}/edit", Team),
    ("new/service", Owner),
    ("teams", SignedIn),
    ("teams/{team}", SignedIn),
    ("teams/{team}/history", SignedIn),
    ("teams/{team}/history.csv", SignedIn),
    ("teams/{team}/contacts", SignedIn),
    ("teams/{team}/contacts/{team-contact}", Team),
    ("teams/{team}/edit", Team),
    ("new/team", Member),
    ("systems", SignedIn),
    ("systems/{system}", SignedIn),
    ("systems/{system}/history", SignedIn),
    ("systems/{system}/history.csv", SignedIn),
    ("systems/{system}/edit", Team),
    ("new/system", Owner),
    ("domains", SignedIn),
    ("domains/{domain}", SignedIn),
    ("domains/{domain}/history", SignedIn),
    ("domains/{domain}/history.csv", SignedIn),
    ("domains/{domain}/edit", Team),
    ("new/domain", Owner),
];

/// The pages of things that a team owns: what they call the thing. Only whoever may change it is shown a form for it, or a
/// link to one, and others are told whose it is.
const OWNED: &[(&str, &str)] = &[
    ("events/{subscription}", "subscription"),
    ("events/{subscription}/edit", "subscription"),
    ("services/{service}", "service"),
    ("services/{service}/contacts", "service"),
    ("services/{service}/contacts/{contact}", "service"),
    ("services/{service}/tools", "service"),
    ("services/{service}/tools/{tool}", "service"),
    ("services/{service}/properties", "service"),
    ("services/{service}/dependencies", "service"),
    ("services/{service}/answer/{question}", "service"),
    ("services/{service}/edit", "service"),
    ("teams/{team}", "team"),
    ("teams/{team}/contacts", "team"),
    ("teams/{team}/contacts/{team-contact}", "team"),
    ("teams/{team}/edit", "team"),
    ("repositories/{own-repository}", "repository"),
    ("systems/{system}", "system"),
    ("systems/{system}/edit", "system"),
    ("domains/{domain}", "domain"),
    ("domains/{domain}/edit", "domain"),
];

/// The fields of a form, and their values.
type Form = &'static [(&'static str, &'static str)];

const DEPENDENCY: &str = "dependencyKey.destinationIdentifier.alias";

/// The form of the starter set.
const STARTER: (&str, Form, May) = ("standards/starter", &[], Standards);

/// The other forms: where they are sent, what they say, and who may send them. The last one ends the session.
const FORMS: &[(&str, Form, May)] = &[
    ("account/sessions/{session}/end", &[], Person),
    ("account/feeds", &[], SignedIn),
    ("account/feeds/{feed}/delete", &[], Person),
    ("views", &[("name", "View {n}"), ("query", "")], SignedIn),
    ("views/{view}/edit", &[("name", "View {n}"), ("shared", "")], Person),
    ("views/{view}/save", &[("query", "language=Go")], Person),
    ("views/{view}/delete", &[], Person),
    ("services/{service}/favourite", &[("do", "add")], SignedIn),
    ("services/{starred}/favourite", &[("do", "remove")], SignedIn),
    ("integrations", &[("type", "deploy"), ("name", "CI {n}")], Member),
    ("integrations/{integration}/rename", &[("name", "CI {n}")], Member),
    ("integrations/{integration}/rotate", &[], Member),
    ("integrations/{integration}/delete", &[], Member),
    ("new/tier", &[("name", "Own {n}")], Member),
    ("new/lifecycle", &[("name", "Stage {n}")], Member),
    ("definitions/tiers/{tier}/edit", &[("name", "Other"), ("alias", "other_{n}"), ("index", "7")], Member),
    ("definitions/lifecycles/{stage}/edit", &[("name", "Other"), ("alias", "other_{n}"), ("index", "7")], Member),
    ("definitions/tiers/{tier}/delete", &[], Member),
    ("definitions/lifecycles/{stage}/delete", &[], Member),
    ("new/property-definition", &[("name", "New {n}"), ("schema", "{schema}")], Member),
    ("definitions/properties/{property}/edit", &[("name", "Other {n}"), ("schema", "{schema}")], Member),
    ("definitions/properties/{property}/delete", &[], Member),
    ("new/filter", &[("name", "New {n}")], Member),
    ("definitions/filters/{filter}/edit", &[("name", "Other {n}")], Member),
    ("definitions/filters/{filter}/delete", &[], Member),
    ("suggestions", &[("id", "{suggestion}"), ("what", "create")], Member),
    ("suggestions", &[("id", "{accepted}"), ("what", "undo")], Member),
    ("suggestions", &[("id", "{suggestion}"), ("what", "ignore")], Member),
    ("suggestions", &[("id", "{ignored}"), ("what", "reopen")], Member),
    ("suggestions/{suggestion}/create", &[("name", "New {n}")], Member),
    ("suggestions/{suggestion}/map", &[("alias", "{service}")], Member),
    ("suggestions/{suggestion}/ignore", &[], Member),
    ("suggestions/{ignored}/unignore", &[], Member),
    (
        "events/{subscription}/edit",
        &[("name", "Other"), ("form", "slack"), ("events", "deploy_failed"), ("teamIds", "core")],
        Owner,
    ),
    ("events/{subscription}/test", &[], Owner),
    ("events/{failed}/resend", &[], Owner),
    ("events/{subscription}/rotate", &[], Owner),
    ("events/{subscription}/delete", &[], Owner),
    (
        "new/event-subscription",
        &[
            ("name", "New"),
            ("form", "slack"),
            ("receiverUrl", "https://hooks.example.com/n"),
            ("events", "deploy_failed"),
            ("teamIds", "core"),
        ],
        Owner,
    ),
    ("tokens", &[("description", "Token {n}"), ("scope", "read"), ("expires", "30")], Admin),
    ("tokens/{token}/rotate", &[("overlap", "24")], Admin),
    ("tokens/{token}/delete", &[], Admin),
    ("users", &[("email", "new{n}@example.com"), ("role", "user")], Admin),
    ("users/{target}/role", &[("role", "standards_admin")], Admin),
    ("users/{target}/link", &[], Admin),
    ("users/{target}/forget", &[], Admin),
    ("users/{target}/feeds", &[], Admin),
    ("users/{target}/delete", &[("anyway", "1")], Admin),
    ("changes/{change}/revert", &[], Owner),
    ("new/campaign", &[("name", "New {n}"), ("ownerId", "core")], Standards),
    ("standards/campaigns/{campaign}/edit", &[("name", "Other {n}"), ("ownerId", "core")], Standards),
    (
        "standards/campaigns/{campaign}/schedule",
        &[("startDate", "2020-01-01"), ("targetDate", "2999-01-01")],
        Standards,
    ),
    ("standards/campaigns/{scheduled}/unschedule", &[], Standards),
    ("standards/campaigns/{scheduled}/end", &[], Standards),
    ("standards/campaigns/{campaign}/check", &[("checkIds", "{check}")], Standards),
    ("standards/campaigns/{copied-to}/check-delete", &[("id", "{copy}")], Standards),
    ("standards/campaigns/{campaign}/delete", &[], Standards),
    (
        "new/check/{kind}",
        &[
            ("name", "New {n}"),
            ("levelId", "{level}"),
            ("categoryId", "{category}"),
            ("enabled", "yes"),
            ("updateRequiresComment", "no"),
        ],
        Standards,
    ),
    ("new/level", &[("name", "New {n}")], Standards),
    ("new/category", &[("name", "New {n}")], Standards),
    ("new/scorecard", &[("name", "New {n}"), ("ownerId", "core"), ("affectsOverallServiceLevels", "yes")], Standards),
    ("standards/scorecards/{scorecard}/edit", &[("name", "Other {n}"), ("ownerId", "core")], Standards),
    ("standards/scorecards/{scorecard}/delete", &[], Standards),
    (
        "standards/{check}/edit",
        &[
            ("name", "Other {n}"),
            ("levelId", "{level}"),
            ("categoryId", "{category}"),
            ("enabled", "yes"),
            ("tagKey", "other"),
        ],
        Standards,
    ),
    ("standards/{check}/switch", &[("enabled", "no")], Standards),
    ("standards/{check}/delete", &[], Standards),
    ("services/change", &[("service", "{service-id}"), ("tierAlias", "tier_1"), ("do", "save")], Owner),
    ("services/{service}/contacts", &[("type", "slack"), ("address", "#other")], Owner),
    ("services/{service}/contacts/{contact}/edit", &[("type", "slack"), ("address", "#other")], Owner),
    ("services/{service}/contacts/{contact}/delete", &[], Owner),
    (
        "services/{service}/tools",
        &[("category", "logs"), ("displayName", "L"), ("url", "https://l.example.com")],
        Owner,
    ),
    (
        "services/{service}/tools/{tool}/edit",
        &[("category", "logs"), ("displayName", "L"), ("url", "https://l.example.com")],
        Owner,
    ),
    ("services/{service}/tools/{tool}/delete", &[], Owner),
    ("services/{service}/properties", &[("value-{property}", "x")], Owner),
    ("services/{service}/dependencies", &[(DEPENDENCY, "{other}")], Owner),
    ("services/{service}/dependencies/{dependency}/delete", &[], Owner),
    ("services/{service}/repositories", &[("repository.alias", "{code}")], Owner),
    ("services/{service}/repositories/{link}/delete", &[], Owner),
    ("services/{service}/on-call", &[("name", "Ada {n}")], Owner),
    ("services/{service}/on-call/{on-call}/delete", &[], Owner),
    ("repositories/{own-repository}/owner", &[("ownerId", "{team}")], Owner),
    ("services/{service}/answer/{question}", &[("passed", "yes")], Owner),
    ("services/{service}/edit", &[("seen", "{seen}"), ("name", "Other {n}"), ("ownerInput.alias", "core")], Owner),
    ("services/{service}/alias", &[("alias", "more-{n}")], Owner),
    ("services/{service}/alias-delete", &[("alias", "{alias}")], Owner),
    ("services/{service}/tag", &[("key", "env"), ("value", "prod")], Owner),
    ("services/{service}/tag-delete", &[("id", "{tag}")], Owner),
    ("services/{service}/delete", &[], Owner),
    ("new/service", &[("name", "New {n}"), ("ownerInput.alias", "core")], Owner),
    ("teams/{team}/contacts", &[("type", "slack"), ("address", "#other")], Owner),
    ("teams/{team}/contacts/{team-contact}/edit", &[("type", "slack"), ("address", "#other")], Owner),
    ("teams/{team}/contacts/{team-contact}/delete", &[], Owner),
    ("teams/{team}/edit", &[("name", "Other {n}")], Owner),
    ("teams/{team}/member", &[("email", "{newcomer}")], Owner),
    ("teams/{team}/member-delete", &[("id", "{member}")], Owner),
    ("teams/{team}/delete", &[], Owner),
    ("new/team", &[("name", "New {n}")], Member),
    ("systems/{system}/edit", &[("name", "Other {n}"), ("ownerId", "core")], Owner),
    ("systems/{system}/child", &[("childServices.0.alias", "{service}")], Owner),
    ("systems/{system}/child-delete", &[("id", "{child}")], Owner),
    ("systems/{system}/delete", &[], Owner),
    ("new/system", &[("name", "New system {n}"), ("ownerId", "core")], Owner),
    ("domains/{domain}/edit", &[("name", "Other {n}"), ("ownerId", "core")], Owner),
    ("domains/{domain}/child", &[("childSystems.0.alias", "{system}")], Owner),
    ("domains/{domain}/child-delete", &[("id", "{part}")], Owner),
    ("domains/{domain}/delete", &[], Owner),
    ("new/domain", &[("name", "New domain {n}"), ("ownerId", "core")], Owner),
    ("sign-in/{key}", &[], Everybody),
    ("sign-out", &[], SignedIn),
];

/// Forms that change nothing for whoever may send them, because there is nothing to change: a link that is not valid.
const IDLE: &[&str] = &["sign-in/{key}"];

/// A catalogue, and who visits it.
struct World<'a> {
    endpoint: &'a Endpoint,
    who: Who,
    browser: Browser<'a>,
    admin: Browser<'a>,
    /// What all rows share: the level, the category.
    shared: BTreeMap<String, String>,
    /// What the current row needs, by the names in its text.
    things: BTreeMap<String, String>,
    number: usize,
}

impl<'a> World<'a> {
    async fn start(endpoint: &'a Endpoint, who: Who) -> Self {
        let app = &endpoint.app;
        let admin = Browser::of(app, Role::Admin).await;
        let browser = match who.role() {
            Some(role) => Browser::of(app, role).await,
            None => Browser::new(app),
        };
        let mut world =
            Self { endpoint, who, browser, admin, shared: BTreeMap::new(), things: BTreeMap::new(), number: 0 };
        let core = format!(
            "teamCreate(input: {{ name: \"Core\", members: {} }}) {{ team {{ id }} errors {{ message }} }}",
            world.members()
        );
        let core = world.id_of(&core).await;
        world.shared.insert("core-id".to_owned(), core);
        world
    }

    /// The members of a team that owns things, as a literal: the visitor, unless the things are those of others.
    fn members(&self) -> String {
        match self.who.role() {
            Some(role) if !self.who.is_outside() => {
                format!("[{{ email: \"{}@example.com\" }}]", format!("{role:?}").to_lowercase())
            }
            _ => "[]".to_owned(),
        }
    }

    /// Whether things that belong to a person are the visitor's.
    fn is_own(&self) -> bool {
        May::Person.allows(self.who)
    }

    /// Runs a mutation with the token of the installation, and returns what it answers.
    async fn done(&self, mutation: &str) -> Value {
        let answer = self.endpoint.app.query(&format!("mutation {{ it: {mutation} }}"), json!({})).await;
        assert_eq!(answer["data"]["it"]["errors"], json!([]), "{mutation}: {answer}");
        answer["data"]["it"].clone()
    }

    /// The id of what a mutation makes.
    async fn id_of(&self, mutation: &str) -> String {
        let done = self.done(mutation).await;
        let rows = done.as_object().expect("a payload").values();
        let id = rows.flat_map(|row| [&row["id"], &row[0]["id"]]).find_map(Value::as_str);
        id.unwrap_or_else(|| panic!("no id in {done}")).to_owned()
    }

    /// Makes what a row needs anew, and puts it into a text for each name in braces.
    async fn filled(&mut self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("the end of a name");
            filled.push_str(before);
            filled.push_str(&self.thing(name).await);
            rest = after;
        }
        filled + rest
    }

    async fn thing(&mut self, name: &str) -> String {
        for known in [&self.things, &self.shared] {
            if let Some(thing) = known.get(name) {
                return thing.clone();
            }
        }
        let made = Box::pin(self.make(name)).await;
        let place = if ["level", "category"].contains(&name) { &mut self.shared } else { &mut self.things };
        place.insert(name.to_owned(), made.clone());
        made
    }

    /// Makes something.
    async fn make(&mut self, name: &str) -> String {
        match name {
            "n" => self.number.to_string(),
            "asset" => {
                let page = self.admin.page("/account").await;
                let asset = page.split('"').find_map(|text| text.strip_prefix("/assets/"));
                asset.expect("a style sheet").to_owned()
            }
            "type" => "Service".to_owned(),
            "kind" => "manual".to_owned(),
            "key" => "nothing".to_owned(),
            "schema" => r#"{"type": "string"}"#.to_owned(),
            "tier" | "stage" | "filter" => {
                let (mutation, noun) = match name {
                    "stage" => ("lifecycleCreate", "lifecycle"),
                    "tier" => ("tierCreate", "tier"),
                    _ => ("filterCreate", "filter"),
                };
                let input = format!("{{ name: \"Own {name} {}\" }}", self.number);
                self.id_of(&format!("{mutation}(input: {input}) {{ {noun} {{ id }} errors {{ message }} }}")).await
            }
            "level" | "category" | "check" | "question" | "campaign" | "scheduled" | "copied-to" | "copy"
            | "scorecard" => self.make_standard(name).await,
            "view" | "feed" | "session" | "starred" | "target" | "person" | "token" | "newcomer" | "member" => {
                self.make_personal(name).await
            }
            "suggestion" | "ignored" | "accepted" | "integration" | "document" | "subscription" | "failed" => {
                self.make_arrival(name).await
            }
            _ => self.make_owned(name).await,
        }
    }

    /// Makes something that the team owns, or that belongs to what it owns.
    async fn make_owned(&mut self, name: &str) -> String {
        let n = self.number;
        let core = self.shared["core-id"].clone();
        match name {
            "service" | "other" => {
                let alias = format!("{name}_{n}");
                let create = format!("serviceCreate(input: {{ name: \"{alias}\", ownerInput: {{ alias: \"core\" }} }}) {{ service {{ id }} errors {{ message }} }}");
                let id = self.id_of(&create).await;
                self.things.insert(format!("{name}-id"), id);
                alias
            }
            "service-id" => {
                self.thing("service").await;
                self.things["service-id"].clone()
            }
            "seen" => {
                let path = format!("/services/{}/edit", self.thing("service").await);
                let page = self.admin.page(&path).await;
                let seen = page.split_once("name=\"seen\" value=\"").expect("when it was changed").1;
                seen.split_once('"').expect("its end").0.to_owned()
            }
            "alias" => {
                let (id, alias) = (self.thing("service-id").await, format!("alias-{n}"));
                self.done(&format!("aliasCreate(input: {{ ownerId: \"{id}\", alias: \"{alias}\" }}) {{ errors {{ message }} }}")).await;
                alias
            }
            "tag" => {
                let id = self.thing("service-id").await;
                self.id_of(&format!("tagAssign(input: {{ id: \"{id}\", tags: {{ key: \"k\", value: \"v\" }} }}) {{ tags {{ id }} errors {{ message }} }}")).await
            }
            "tool" => {
                let alias = self.thing("service").await;
                self.id_of(&format!("toolCreate(input: {{ serviceAlias: \"{alias}\", category: runbooks, displayName: \"R\", url: \"https://r.example.com\" }}) {{ tool {{ id }} errors {{ message }} }}")).await
            }
            "contact" | "team-contact" => {
                let owner = if name == "contact" { "service-id" } else { "team-id" };
                let owner = self.thing(owner).await;
                self.id_of(&format!("contactCreate(input: {{ ownerId: \"{owner}\", type: slack, address: \"#own\" }}) {{ contact {{ id }} errors {{ message }} }}")).await
            }
            "dependency" => {
                let (from, to) = (self.thing("service").await, self.thing("other").await);
                self.id_of(&format!("serviceDependencyCreate(inputV2: {{ dependencyKey: {{ sourceIdentifier: {{ alias: \"{from}\" }}, destinationIdentifier: {{ alias: \"{to}\" }} }} }}) {{ serviceDependency {{ id }} errors {{ message }} }}")).await
            }
            "property" => {
                self.id_of(&format!("propertyDefinitionCreate(input: {{ name: \"Property {n}\", schema: {{ type: \"string\" }} }}) {{ definition {{ id }} errors {{ message }} }}")).await
            }
            "team" => {
                let create = format!("teamCreate(input: {{ name: \"team_{n}\", members: {} }}) {{ team {{ id }} errors {{ message }} }}", self.members());
                let id = self.id_of(&create).await;
                self.things.insert("team-id".to_owned(), id);
                format!("team_{n}")
            }
            "team-id" => {
                self.thing("team").await;
                self.things["team-id"].clone()
            }
            "system" | "domain" => {
                let alias = format!("{name}_{n}");
                let id = self.id_of(&format!("{name}Create(input: {{ name: \"{alias}\", ownerId: \"{core}\" }}) {{ {name} {{ id }} errors {{ message }} }}")).await;
                self.things.insert(format!("{name}-id"), id);
                alias
            }
            "child" => {
                let (system, service) = (self.thing("system").await, self.thing("service").await);
                self.done(&format!("systemChildAssign(system: {{ alias: \"{system}\" }}, childServices: [{{ alias: \"{service}\" }}]) {{ errors {{ message }} }}")).await;
                self.things["service-id"].clone()
            }
            "part" => {
                let (domain, system) = (self.thing("domain").await, self.thing("system").await);
                self.done(&format!("domainChildAssign(domain: {{ alias: \"{domain}\" }}, childSystems: [{{ alias: \"{system}\" }}]) {{ errors {{ message }} }}")).await;
                self.things["system-id"].clone()
            }
            "change" => {
                let alias = self.thing("service").await;
                self.done(&format!("serviceUpdate(input: {{ alias: \"{alias}\", product: \"P {n}\" }}) {{ errors {{ message }} }}")).await;
                let newest = audit::Entity::find().filter(audit::Column::Action.eq("serviceUpdate"));
                let newest = newest.order_by_desc(audit::Column::Id).limit(1);
                let entry = self.endpoint.app.db.read().one(newest).await.expect("the audit").expect("an entry");
                entry.id.to_string()
            }
            "repository" => {
                let id = self.id_of(&format!("repositoryCreate(input: {{ name: \"org/r{n}\" }}) {{ repository {{ id }} errors {{ message }} }}")).await;
                number(&id)
            }
            "own-repository" => {
                let id = self.id_of(&format!("repositoryCreate(input: {{ name: \"org/own{n}\", ownerId: \"{core}\" }}) {{ repository {{ id }} errors {{ message }} }}")).await;
                number(&id)
            }
            "code" => {
                let alias = format!("code-{n}");
                self.done(&format!("repositoryCreate(input: {{ name: \"{alias}\", defaultAlias: \"{alias}\" }}) {{ errors {{ message }} }}")).await;
                alias
            }
            "link" => {
                let (service, code) = (self.thing("service").await, self.thing("code").await);
                self.id_of(&format!("serviceRepositoryCreate(input: {{ service: {{ alias: \"{service}\" }}, repository: {{ alias: \"{code}\" }} }}) {{ serviceRepository {{ id }} errors {{ message }} }}")).await
            }
            "on-call" => {
                let service = self.thing("service").await;
                let set = format!("serviceOnCallsUpdate(input: {{ service: {{ alias: \"{service}\" }}, onCalls: [{{ name: \"Jon\" }}] }}) {{ service {{ onCalls {{ nodes {{ id }} }} }} errors {{ message }} }}");
                let done = self.done(&set).await;
                done["service"]["onCalls"]["nodes"][0]["id"].as_str().expect("an id").to_owned()
            }
            "resource" => {
                self.id_of(&format!("infrastructureResourceCreate(input: {{ schema: {{ type: \"Queue\" }}, data: {{ name: \"Q {n}\" }} }}) {{ infrastructureResource {{ id }} errors {{ message }} }}")).await
            }
            _ => panic!("nothing is called {name}"),
        }
    }

    /// Makes something of the standards.
    async fn make_standard(&mut self, name: &str) -> String {
        let n = self.number;
        match name {
            "level" | "category" => {
                self.id_of(&format!(
                    "{name}Create(input: {{ name: \"Own {n}\" }}) {{ {name} {{ id }} errors {{ message }} }}"
                ))
                .await
            }
            "check" | "question" => {
                let (level, category) = (self.thing("level").await, self.thing("category").await);
                let (kind, own) = if name == "check" {
                    ("TagDefined", "tagKey: \"k\"")
                } else {
                    ("Manual", "updateRequiresComment: false")
                };
                self.id_of(&format!("check{kind}Create(input: {{ name: \"{name} {n}\", levelId: \"{level}\", categoryId: \"{category}\", enabled: true, {own} }}) {{ check {{ id }} errors {{ message }} }}")).await
            }
            "campaign" => {
                let core = &self.shared["core-id"];
                self.id_of(&format!("campaignCreate(input: {{ name: \"Campaign {n}\", ownerId: \"{core}\" }}) {{ campaign {{ id }} errors {{ message }} }}")).await
            }
            "scheduled" => {
                let id = self.thing("campaign").await;
                self.done(&format!("campaignScheduleUpdate(input: {{ id: \"{id}\", startDate: \"2020-01-01T00:00:00Z\", targetDate: \"2999-01-01T00:00:00Z\" }}) {{ errors {{ message }} }}")).await;
                id
            }
            "copied-to" => {
                let (id, check) = (self.thing("campaign").await, self.thing("check").await);
                self.done(&format!("checksCopyToCampaign(input: {{ campaignId: \"{id}\", checkIds: [\"{check}\"] }}) {{ errors {{ message }} }}")).await;
                id
            }
            "copy" => {
                let id = self.thing("copied-to").await;
                let query = "query($id: ID!) { account { campaign(id: $id) { checks { nodes { id } } } } }";
                let answer = self.endpoint.app.query(query, json!({ "id": id })).await;
                let copy = &answer["data"]["account"]["campaign"]["checks"]["nodes"][0]["id"];
                copy.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
            }
            _ => {
                let core = &self.shared["core-id"];
                let create = format!(
                    "scorecardCreate(input: {{ name: \"scorecard_{n}\", ownerId: \"{core}\", affectsOverallServiceLevels: true }}) {{ scorecard {{ aliases }} errors {{ message }} }}"
                );
                let made = self.done(&create).await;
                made["scorecard"]["aliases"][0].as_str().expect("an alias").to_owned()
            }
        }
    }

    /// Makes something that belongs to a person, or a person.
    async fn make_personal(&mut self, name: &str) -> String {
        let (endpoint, n) = (self.endpoint, self.number);
        let app = &endpoint.app;
        match name {
            "view" => {
                let create = "mutation($input: SavedViewCreateInput!) { savedViewCreate(input: $input) { savedView { id } errors { message } } }";
                let input = json!({ "name": format!("Kept {n}"), "query": "", "shared": !self.is_own() });
                let whose = if self.is_own() { &self.browser } else { &self.admin };
                let made = whose.query(create, json!({ "input": input })).await;
                number(made["data"]["savedViewCreate"]["savedView"]["id"].as_str().unwrap_or_else(|| panic!("{made}")))
            }
            "feed" | "session" => {
                let role = self.who.role().filter(|_| self.is_own()).unwrap_or(Role::Admin);
                let email = format!("{role:?}@example.com").to_lowercase();
                if name == "session" {
                    Browser::of(app, role).await;
                    let newest = session::Entity::find().order_by_desc(session::Column::Id).limit(1);
                    return app.db.read().one(newest).await.expect("sessions").expect("a session").id.to_string();
                }
                let user = user::by_email(app.db.read(), &email).await.expect("users").expect("a user");
                give_feed(app, &user).await;
                let feeds = feed::of_user(app.db.read(), user.id).await.expect("feeds");
                feeds[0].id.to_string()
            }
            "starred" => {
                let alias = self.thing("service").await;
                let add = "mutation($alias: String!) { serviceFavouriteAdd(service: { alias: $alias }) { errors { message } } }";
                if self.who != Who::Nobody {
                    self.browser.query(add, json!({ "alias": alias })).await;
                }
                alias
            }
            "target" => {
                let email = format!("target{n}@example.com");
                let id = self
                    .id_of(&format!(
                        "userInvite(email: \"{email}\", input: {{}}) {{ user {{ id }} errors {{ message }} }}"
                    ))
                    .await;
                let user = user::by_email(app.db.read(), &email).await.expect("users").expect("a user");
                give_feed(app, &user).await;
                let linked = app.db.write(async |db| {
                    identity::remember(db, "https://id.example.com", &email, user.id, Timestamp::now()).await
                });
                linked.await.expect("an identity");
                id
            }
            "person" => number(&self.thing("target").await),
            "token" => {
                app.new_token(Scope::Read, None).await;
                let newest = token::Entity::find().order_by_desc(token::Column::Id).limit(1);
                app.db.read().one(newest).await.expect("tokens").expect("a token").id.to_string()
            }
            "newcomer" => {
                let email = format!("newcomer{n}@example.com");
                self.done(&format!("userInvite(email: \"{email}\", input: {{}}) {{ errors {{ message }} }}")).await;
                email
            }
            _ => {
                let (team, email) = (self.thing("team-id").await, self.thing("newcomer").await);
                self.done(&format!("teamMembershipCreate(input: {{ teamId: \"{team}\", members: [{{ email: \"{email}\" }}] }}) {{ errors {{ message }} }}")).await;
                let user = user::by_email(self.endpoint.app.db.read(), &email).await.expect("users").expect("a user");
                Id::new::<user::Entity>(user.id).text()
            }
        }
    }

    /// Makes something that comes from outside, or goes there.
    async fn make_arrival(&mut self, name: &str) -> String {
        let (endpoint, n) = (self.endpoint, self.number);
        let app = &endpoint.app;
        match name {
            "suggestion" => {
                let alias = format!("unknown-{n}");
                assert_eq!(endpoint.post_with(json!({ "service": alias, "dedup_id": alias })).await.status, 202);
                let newest = suggestion::Entity::find().order_by_desc(suggestion::Column::Id).limit(1);
                let found = app.db.read().one(newest).await.expect("suggestions").expect("a suggestion");
                Id::new::<suggestion::Entity>(found.id).text()
            }
            "ignored" | "accepted" => {
                let id = self.thing("suggestion").await;
                let what = if name == "ignored" { "Ignore" } else { "Accept" };
                self.done(&format!("serviceSuggestion{what}(input: {{ id: \"{id}\" }}) {{ errors {{ message }} }}"))
                    .await;
                id
            }
            "integration" => integration::deploy_endpoint(app, &format!("Endpoint {n}")).await.0,
            "document" => {
                let service = self.thing("service").await;
                let create =
                    "eventIntegrationCreate(input: { type: apiDoc }) { integration { webhookUrl } errors { message } }";
                let made = self.done(create).await;
                let url = made["integration"]["webhookUrl"].as_str().expect("an address");
                let path = format!("{}/{service}", &url[url.find("/integrations/").expect("a path")..]);
                let posted =
                    app.request(Method::POST, &path, &[("content-type", "text/yaml")], "openapi: 3.1.0\n").await;
                assert_eq!(posted.status, 202, "{posted:?}");
                let found = app.query("{ account { documents { nodes { htmlUrl } } } }", json!({})).await;
                let url = found["data"]["account"]["documents"]["nodes"][0]["htmlUrl"].as_str().expect("an address");
                url.rsplit('/').next().expect("a number").to_owned()
            }
            _ => {
                let core = &self.shared["core-id"];
                let create = format!(
                    "eventSubscriptionCreate(input: {{ name: \"Told {n}\", receiverUrl: \"https://hooks.example.com/{n}\", form: slack, events: [deploy_failed], enabled: true, teamIds: [\"{core}\"] }}) {{ eventSubscription {{ id }} errors {{ message }} }}"
                );
                let id = self.id_of(&create).await;
                if name == "failed" {
                    self.done(&format!("eventSubscriptionTest(input: {{ id: \"{id}\" }}) {{ errors {{ message }} }}"))
                        .await;
                    let failed = "UPDATE event_delivery SET state = 'failed', next_at = NULL, attempts = 20";
                    let done = app.db.write(async |db| db.script(failed).await);
                    done.await.expect("a failed delivery");
                }
                id
            }
        }
    }

    /// All that a form may change.
    async fn state(&self) -> (Rows, Vec<String>) {
        let db = self.endpoint.app.db.read();
        let mut secret = Vec::new();
        for row in db.all(token::Entity::find().order_by_asc(token::Column::Id)).await.expect("tokens") {
            secret.push(format!("token {} {:?}", row.id, row.expires_at));
        }
        for row in db.all(session::Entity::find().order_by_asc(session::Column::Id)).await.expect("sessions") {
            secret.push(format!("session {}", row.id));
        }
        for row in db.all(sign_in_link::Entity::find().order_by_asc(sign_in_link::Column::Id)).await.expect("links") {
            secret.push(format!("link {} {:?}", row.id, row.used_at));
        }
        for row in db.all(feed::Entity::find().order_by_asc(feed::Column::Id)).await.expect("feeds") {
            secret.push(format!("feed {}", row.id));
        }
        let subscriptions = event_subscription::Entity::find().order_by_asc(event_subscription::Column::Id);
        for row in db.all(subscriptions).await.expect("subscriptions") {
            secret.push(format!("{row:?}"));
        }
        let receivers = event_receiver::Entity::find().order_by_asc(event_receiver::Column::Id);
        for row in db.all(receivers).await.expect("receivers") {
            secret.push(format!("receiver {} {} {}", row.id, row.url, row.secret));
        }
        let deliveries = event_delivery::Entity::find().order_by_asc(event_delivery::Column::Id);
        for row in db.all(deliveries).await.expect("deliveries") {
            secret.push(format!("delivery {} {:?}", row.id, row.state));
        }
        (rows(&self.endpoint.app).await, secret)
    }
}

async fn give_feed(app: &TestApp, user: &user::Model) {
    let made = app.db.write(async |db| feed::create(db, &Actor::command_line(), user, Timestamp::now()).await);
    made.await.expect("a feed");
}

/// The number in an id.
fn number(text: &str) -> String {
    id::decode(text).unwrap_or_else(|| panic!("{text} is no id")).1.to_string()
}

/// Whether the answer leads to the page where people sign in.
fn leads_to_sign_in(answer: &Response) -> bool {
    answer.status == 303 && answer.header("location").is_some_and(|place| place.starts_with("/sign-in"))
}

/// Checks an answer for whoever may not have it.
fn check_refused(what: &str, who: Who, answer: &Response) {
    let is_refused = match who {
        Who::Nobody => leads_to_sign_in(answer),
        _ => [400, 403, 404, 422].contains(&answer.status),
    };
    assert!(is_refused, "{what} is not for {who:?}: {answer:?}");
}

/// Opens a page.
async fn open(world: &mut World<'_>, (pattern, may): (&str, May)) {
    let who = world.who;
    let path = format!("/{}", world.filled(pattern).await);
    let answer = world.browser.get(&path).await;
    if may == May::Everybody {
        assert!(answer.status < 500 && answer.status != 403, "{path} for {who:?}: {answer:?}");
    } else if may.allows(who) {
        let is_shown = answer.status == 200 || answer.status == 303 && !leads_to_sign_in(&answer);
        assert!(is_shown, "{path} is for {who:?}: {answer:?}");
    } else {
        check_refused(pattern, who, &answer);
    }
    if let Some((_, noun)) = OWNED.iter().find(|(owned, _)| *owned == pattern)
        && may.allows(who)
    {
        if pattern.ends_with("/properties") {
            // Without a definition, there is nothing to give a value for.
            world.thing("property").await;
        }
        check_offer(world, &path, noun).await;
    }
}

/// What a page offers to change: where its forms are sent, and its links to forms. The forms of what belongs to a person are
/// everybody's.
fn offers(page: &str) -> Vec<&str> {
    let value = |tag: &str, name: &str| {
        let start = tag.find(&format!("{name}=\""))? + name.len() + 2;
        Some((start, start + tag[start..].find('"')?))
    };
    let mut offers = Vec::new();
    for tag in page.split('<').filter_map(|rest| rest.split('>').next()) {
        if tag.starts_with("form ") && tag.contains("method=\"post\"") {
            let to = value(tag, "action").map_or("here", |(start, end)| &tag[start..end]);
            if to != "/sign-out" && !to.ends_with("/favourite") {
                offers.push(to);
            }
        } else if tag.starts_with("a ")
            && let Some((start, end)) = value(tag, "href")
            && (tag[start..end].ends_with("/edit") || tag[start..end].contains("/answer/"))
        {
            offers.push(&tag[start..end]);
        }
    }
    offers
}

/// Checks that the page of a thing that a team owns, or the page that it leads to, offers to change it to whoever may, and tells
/// others whose it is.
async fn check_offer(world: &World<'_>, path: &str, noun: &str) {
    let who = world.who;
    let mut answer = world.browser.get(path).await;
    if answer.status == 303 {
        assert!(!Owner.allows(who), "{path} leads {who:?} elsewhere: {answer:?}");
        let to = answer.location().to_owned();
        assert!(path.starts_with(&to), "{path} leads {who:?} to {to}");
        answer = world.browser.get(&to).await;
    }
    assert_eq!(answer.status, 200, "{path} for {who:?}: {answer:?}");
    let page = answer.text();
    let offers = offers(page);
    assert_eq!(!offers.is_empty(), Owner.allows(who), "{path} offers {who:?} {offers:?}: {page}");
    let whose = match noun {
        "team" => "You are not in this team.".to_owned(),
        _ => format!("Core</a> owns this {noun}."),
    };
    let others = match who.is_held() {
        true => "On this server, only its members and administrators can change it.",
        false => "Only its members, and people with a higher role than yours, can change it.",
    };
    for said in [&*whose, others, "How to reach "] {
        assert_eq!(page.contains(said), who.is_outside(), "{said} at {path} for {who:?}: {page}");
    }
}

/// Sends a form about things of its own.
async fn send(world: &mut World<'_>, (pattern, form, may): (&str, Form, May)) {
    let who = world.who;
    world.number += 1;
    world.things.clear();
    let path = format!("/{}", world.filled(pattern).await);
    let mut fields = Vec::new();
    for (name, value) in form {
        fields.push((world.filled(name).await, world.filled(value).await));
    }
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let before = world.state().await;
    let answer = world.browser.post(&path, &fields).await;
    let after = world.state().await;
    if !may.allows(who) {
        check_refused(pattern, who, &answer);
        assert!(before == after, "{pattern} is refused for {who:?}, and changes something: {answer:?}");
        return;
    }
    let is_done = match may {
        May::Everybody => answer.status < 500 && answer.status != 403,
        _ => answer.status == 200 || answer.status == 303 && (pattern == "sign-out" || !leads_to_sign_in(&answer)),
    };
    assert!(is_done, "{pattern} with {form:?} is for {who:?}: {answer:?}");
    assert_eq!(
        before == after,
        IDLE.contains(&pattern),
        "what {pattern} with {form:?} changes for {who:?}: {answer:?}"
    );
}

/// Everything, for one visitor.
async fn visited_by(who: Who) {
    let endpoint = Endpoint::with(if who.is_held() { &["--owner-only-writes"] } else { &[] }).await;
    let mut world = World::start(&endpoint, who).await;
    // It needs an empty rubric.
    send(&mut world, STARTER).await;
    for page in PAGES {
        open(&mut world, *page).await;
    }
    for form in FORMS {
        send(&mut world, *form).await;
    }
}

macro_rules! visitors {
    ($($test:ident: $who:ident;)*) => { $(
        #[tokio::test]
        async fn $test() {
            visited_by(Who::$who).await;
        }
    )* };
}

visitors! {
    nobody_who_is_not_signed_in_sees_or_changes_anything: Nobody;
    a_viewer_sees_everything_but_administration_and_changes_only_what_is_their_own: Viewer;
    a_team_member_changes_what_their_team_owns: Own;
    a_team_member_changes_nothing_that_others_own: Others;
    a_member_changes_everything_but_standards_and_administration: User;
    a_standards_administrator_changes_standards_too: StandardsAdmin;
    an_administrator_changes_everything: Admin;
    a_member_changes_what_their_team_owns_under_owner_only_writes: HeldOwn;
    a_member_changes_nothing_that_others_own_under_owner_only_writes: HeldOthers;
}

/// A route of the pages: its method, and its segments. `None` stands for any text.
type Route = (&'static str, Vec<Option<String>>);

/// The texts of the files of the pages.
fn sources(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("node_modules") {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.insert(path.clone(), std::fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// The folder of the pages.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/app")
}

/// The words that a handler knows as the last part of a path: the literals that it compares `what` with.
fn words(source: &str, function: &str) -> BTreeSet<String> {
    let start = source.find(&format!("async fn {function}(")).unwrap_or_else(|| panic!("no {function}"));
    let body = &source[start..];
    let body = &body[..body.find("\n}\n").expect("its end")];
    let parts: Vec<&str> = body.split('"').collect();
    let is_word = |at: &usize| {
        let (before, after) = (parts[at - 1], parts[at + 1]);
        let is_first_of_two = before.ends_with('(') && before.trim_end_matches('(').ends_with(char::is_whitespace);
        after.starts_with(" =>")
            || after.starts_with(" if ")
            || before.ends_with("what == ")
            || is_first_of_two && (after.starts_with(", GroupKind::") || after.starts_with(", _"))
    };
    let odd = (1..parts.len().saturating_sub(1)).step_by(2);
    odd.filter(is_word).map(|at| parts[at].to_owned()).collect()
}

/// The routes that the code of the pages has.
fn routes() -> Vec<Route> {
    let mut files = BTreeMap::new();
    sources(&folder(), &mut files);
    let mut routes = Vec::new();
    for text in files.values() {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let starts = ["(Get, [", "(Method::Get, [", "(Post, [", "(Method::Post, [", "(_, ["];
            let Some(rest) = starts.iter().find_map(|start| line.strip_prefix(start)) else { continue };
            let (pattern, handler) = rest.split_once("]) =>").unwrap_or((rest, ""));
            // Leads to other patterns.
            if pattern.contains("..") || !line.contains("=>") {
                continue;
            }
            let methods: &[&'static str] = match *line {
                line if line.starts_with("(_") => &["GET", "POST"],
                line if line.contains("Get, [") => &["GET"],
                _ => &["POST"],
            };
            let handler = if handler.contains("::") { handler } else { lines[at + 1] };
            let alternatives = segments(pattern, handler, &files);
            for method in methods {
                routes.extend(alternatives.iter().map(|segments| (*method, segments.clone())));
            }
        }
    }
    routes
}

/// All that the segments of a pattern stand for.
fn segments(pattern: &str, handler: &str, files: &BTreeMap<PathBuf, String>) -> Vec<Vec<Option<String>>> {
    let mut all: Vec<Vec<Option<String>>> = vec![Vec::new()];
    for (place, part) in pattern.split(", ").enumerate() {
        let fixed = |words: &[&str]| words.iter().map(|word| Some((*word).to_owned())).collect::<Vec<_>>();
        let choices: Vec<Option<String>> = match part {
            "what" => {
                let name = handler.split('(').next().expect("a name").trim().trim_start_matches("return ");
                let mut parts = name.rsplit("::");
                let (function, module) = (parts.next().expect("a name"), parts.next().expect("a module"));
                let source = &files[&folder().join(format!("{module}.rs"))];
                let known = match pattern.starts_with("\"new\"") {
                    true => {
                        let table = source.split_once("const OTHERS").expect("the others").1;
                        let table = table.split_once("];").expect("its end").0;
                        table.split("(\"").skip(1).filter_map(|row| Some(row.split_once('"')?.0.to_owned())).collect()
                    }
                    false => words(source, function),
                };
                assert!(!known.is_empty(), "{handler} knows no words");
                known.into_iter().map(Some).collect()
            }
            "_" | "part" if place == 0 => fixed(&["systems", "domains"]),
            "_" => fixed(&["system", "domain"]),
            part if part.contains("@ (") => {
                part.split('"').skip(1).step_by(2).map(|word| Some(word.to_owned())).collect()
            }
            part if part.starts_with('"') => vec![Some(part.trim_matches('"').to_owned())],
            _ => vec![None],
        };
        let longer = all.iter().flat_map(|before| {
            choices.iter().map(move |choice| before.iter().cloned().chain([choice.clone()]).collect())
        });
        all = longer.collect();
    }
    all
}

#[test]
fn every_page_of_something_that_a_team_owns_is_a_page() {
    for (owned, _) in OWNED {
        assert!(PAGES.iter().any(|(page, _)| page == owned), "{owned}");
    }
    // Whatever has a form for owners alone belongs to a page that is checked for it.
    for (form, _, may) in FORMS.iter().filter(|(form, ..)| form.contains('{') && !form.starts_with("changes/")) {
        let is_owned = OWNED.iter().any(|(page, _)| form.split('/').zip(page.split('/')).take(2).all(|(a, b)| a == b));
        let is_checked = is_owned || form.starts_with("events/{failed}");
        assert!(*may != Owner || is_checked, "{form}");
    }
}

#[test]
fn every_page_and_every_form_has_a_row() {
    let routes = routes();
    let rows: Vec<(&str, &str)> = PAGES
        .iter()
        .map(|(path, _)| ("GET", *path))
        .chain([STARTER].iter().chain(FORMS).map(|(path, ..)| ("POST", *path)))
        .collect();
    let fits = |(method, segments): &Route, row: &(&str, &str)| {
        let parts: Vec<&str> = row.1.split('/').collect();
        let is_it = |(segment, part): (&Option<String>, &&str)| match segment {
            Some(word) => word == part,
            None => part.starts_with('{'),
        };
        *method == row.0 && segments.len() == parts.len() && segments.iter().zip(&parts).all(is_it)
    };
    let told = |route: &Route| {
        let parts: Vec<&str> = route.1.iter().map(|part| part.as_deref().unwrap_or("…")).collect();
        format!("{} /{}", route.0, parts.join("/"))
    };
    let missing: Vec<String> =
        routes.iter().filter(|route| !rows.iter().any(|row| fits(route, row))).map(told).collect();
    assert!(missing.is_empty(), "no row has {missing:#?}");
    let gone: Vec<_> = rows.iter().filter(|row| !routes.iter().any(|route| fits(route, row))).collect();
    assert!(gone.is_empty(), "no page has {gone:#?}");
    let count = |method| routes.iter().filter(|route| route.0 == method).count();
    assert!(count("GET") >= 80 && count("POST") >= 75, "{} and {}", count("GET"), count("POST"));
}
