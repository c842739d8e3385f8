//! Users: members and managers of teams, and people who deploy.

use futures_util::future::BoxFuture;
use sea_orm::sea_query::ExprTrait;

use super::audit::Subject;
use super::prelude::*;
use crate::error::Problems;

super::table! {
    "user", Alone("User"), Administrators, untold(EmailKey, UserNameKey);

    /// The full name.
    pub name: String,
    /// The email address, as given.
    pub email: String,
    /// The form in which the email address is compared, from [`email_key`]; unique.
    pub email_key: String,
    /// What the user may do.
    pub role: Role,
    /// When the user last signed in to the application.
    pub last_sign_in_at: Option<Timestamp>,
    /// How the user was created; `None` for users from before this was recorded.
    #[serde(deserialize_with = "super::known_or_null")]
    pub provisioned_by: Option<ProvisionedBy>,
    /// The identity provider's id for the person, as SCIM tells it; unique.
    pub external_id: Option<String>,
    /// The name by which the identity provider knows the person, if it is not the email address.
    pub user_name: Option<String>,
    /// The form in which that name is compared, from [`email_key`]. No other user has it as a name or an address.
    pub user_name_key: Option<String>,
    /// The given name, as SCIM tells it.
    pub given_name: Option<String>,
    /// The family name, as SCIM tells it.
    pub family_name: Option<String>,
    /// When the user was deactivated: nobody can sign in as them. `None` while they are active.
    pub deactivated_at: Option<Timestamp>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("email", Column::Email, text::SHORT).required(),
    FieldRule::text("name", Column::Name, text::SHORT).required(),
];

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads the catalogue.
    Viewer,
    /// Also changes the user's own teams, and what these own.
    TeamMember,
    /// Reads and writes the catalogue, except for its standards.
    User,
    /// Also changes the standards.
    StandardsAdmin,
    /// Also manages users and tokens, and reads the audit.
    Admin,
}

impl Role {
    /// The role as the API and the settings write it.
    pub fn word(self) -> String {
        sea_orm::ActiveEnum::to_value(&self)
    }
}

/// How a user was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ProvisionedBy {
    /// On the command line, or by the link for the first administrator.
    CommandLine,
    /// By an administrator who was signed in to the application.
    User,
    /// By a program with an API token.
    Token,
    /// By signing in at the OpenID provider.
    OpenId,
    /// By the identity provider, through SCIM.
    Scim,
}

impl Model {
    /// The user as the subject of an audit entry.
    pub fn subject(&self) -> Subject {
        Subject::new("User", Some(self.id), &self.email)
    }

    /// Whether the user may sign in.
    pub fn is_active(&self) -> bool {
        self.deactivated_at.is_none()
    }

    /// Why the user cannot sign in, for people. `None` if they can.
    pub fn refusal(&self) -> Option<String> {
        let name = quoted(&self.email);
        (!self.is_active()).then(|| {
            format!(
                "The user {name} is deactivated, so nobody can sign in as them. Whoever manages accounts at your identity \
                 provider can activate the user again."
            )
        })
    }
}

/// Returns the form in which email addresses are compared: without surrounding blanks, and with ASCII letters in lower
/// case. Other letters stay as they are: folding U+212A (the Kelvin sign) to `k` would make two people one.
pub fn email_key(email: &str) -> String {
    text::trim(email).to_ascii_lowercase()
}

/// Recomputes the keys that an older version stored in another form.
pub async fn refresh_email_keys(db: &dyn WriteHandle) -> Result<(), db::Error> {
    let mut after = 0;
    loop {
        let users = Entity::find().select_only().columns([Column::Id, Column::Email, Column::EmailKey]);
        let users = users.filter(Column::Id.gt(after)).order_by_asc(Column::Id).limit(AT_ONCE);
        let users: Vec<(i64, String, String)> =
            db.rows(users.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
        let Some((last, ..)) = users.last() else { return Ok(()) };
        after = *last;
        for (id, email, key) in users {
            if email_key(&email) != key {
                let key = Entity::update_many().col_expr(Column::EmailKey, Expr::value(email_key(&email)));
                // How the server compares addresses is no change of the user.
                let key = key.col_expr(Column::UpdatedAt, Expr::col(Column::UpdatedAt));
                db.exec(key.filter(Column::Id.eq(id))).await?;
            }
        }
    }
}

/// The number of users whose keys are recomputed at once.
const AT_ONCE: u64 = 1_000;

/// Finds the user with this email address, ignoring the case of ASCII letters.
pub async fn by_email(db: &dyn ReadHandle, email: &str) -> Result<Option<Model>, db::Error> {
    super::by_unique::<Entity>(db, Column::EmailKey, email_key(email)).await
}

impl super::ByAlias for Entity {
    const CALLED: &'static str = "email address";

    async fn by_alias(db: &dyn ReadHandle, email: &str) -> Result<Option<Model>, db::Error> {
        by_email(db, email).await
    }
}

/// The email addresses of the users that were made first, at most `most`.
pub async fn emails(db: &dyn ReadHandle, most: u64) -> Result<Vec<String>, db::Error> {
    let users = Entity::find().select_only().column(Column::Email).order_by_asc(Column::Id).limit(most);
    db.rows(users.as_query(), |row| row.get::<String>(0)).await
}

/// Returns whether there is an administrator who can sign in.
pub async fn any_administrator(db: &dyn ReadHandle) -> Result<bool, db::Error> {
    let administrators = Entity::find().filter(Column::Role.eq(Role::Admin)).filter(Column::DeactivatedAt.is_null());
    let first = administrators.select_only().column(Column::Id).limit(1);
    Ok(!db.rows(first.as_query(), |row| row.get::<i64>(0)).await?.is_empty())
}

/// The administrators who can sign in, at most `most`: those who were made first.
pub async fn administrators(db: &dyn ReadHandle, most: u64) -> Result<Vec<Model>, db::Error> {
    let administrators = Entity::find().filter(Column::Role.eq(Role::Admin)).filter(Column::DeactivatedAt.is_null());
    db.all(administrators.order_by_asc(Column::Id).limit(most)).await
}

/// Locks a user who is about to be deleted, deactivated or demoted, together with all administrators. Of two concurrent
/// calls, the second sees what the first one did.
///
/// # Errors
/// The user is the only administrator who can sign in. Without one, nobody could manage users and tokens.
pub async fn lock_to_demote(db: &dyn ReadHandle, id: i64) -> Result<Model> {
    // In the order of their ids, so that two of these transactions cannot deadlock.
    let held = Entity::find().filter(Column::Role.eq(Role::Admin).or(Column::Id.eq(id)));
    let held = db.all(held.order_by_asc(Column::Id).lock(LockType::Update)).await?;
    let (user, others): (Vec<_>, Vec<_>) = held.into_iter().partition(|user| user.id == id);
    // Another request has deleted the user in the meantime. The mutation is retried, and then reports that.
    let user = user.into_iter().next().ok_or(db::Error::LostRace)?;
    let is_needed = user.role == Role::Admin && user.is_active();
    if is_needed && !others.iter().any(Model::is_active) {
        let name = quoted(&user.name);
        return Err(UserError::base(format!(
            "{name} is the only administrator; make another user an administrator first"
        ))
        .into());
    }
    Ok(user)
}

/// Makes the user with this email address an administrator. Creates the user if there is none. For an installation
/// without an administrator.
///
/// # Errors
/// As [`create`].
pub async fn first_administrator(db: &Transaction, email: &str, name: Option<&str>, now: Timestamp) -> Result<Model> {
    let Some(user) = by_email(db, email).await? else {
        return create(db, email, name, Role::Admin, ProvisionedBy::CommandLine, now).await;
    };
    let mut row: ActiveModel = user.into();
    row.role = Set(Role::Admin);
    row.deactivated_at = Set(None);
    Ok(db.update(row).await?)
}

/// Creates a user with a role, and records how. Without a name, the part of the email address before the `@` is used.
///
/// # Errors
/// The email address is malformed or taken, or the name is empty or too long.
pub fn create<'f>(
    db: &'f dyn WriteHandle,
    email: &'f str,
    name: Option<&'f str>,
    role: Role,
    by: ProvisionedBy,
    now: Timestamp,
) -> BoxFuture<'f, Result<Model>> {
    Box::pin(async move {
        let mut problems = Problems::default();
        let email = problems.take(address(email));
        let name = match name {
            Some(name) => problems.take(Entity::rule(Column::Name).required_text(name)),
            None => email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(local, _)| local.to_owned()),
        };
        problems.none()?;
        let email = email.unwrap_or_default();
        let taken = UserError::new("email", format!("another user already has the email address {}", quoted(&email)));
        let row = ActiveModel {
            name: Set(name.unwrap_or_default()),
            email_key: Set(email_key(&email)),
            email: Set(email),
            role: Set(role),
            provisioned_by: Set(Some(by)),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let user = db.insert(row).await.map_err(|error| match error.violation() {
            Some(db::Constraint::Unique(_)) => Error::from(taken),
            _ => error.into(),
        })?;
        db::find::refresh(db).await?;
        Ok(user)
    })
}

/// Checks an email address. Removes surrounding blanks.
///
/// # Errors
/// The text cannot be an email address. Does not check whether mail arrives there.
pub fn address(email: &str) -> Result<String, UserError> {
    let email = Entity::rule(Column::Email).required_text(email)?;
    // RFC 5322 keeps these signs for what stands around an address: `mailto:`, `<…>`, lists.
    let has_special = !email.starts_with('"') && email.contains(['<', '>', '(', ')', ',', ';', ':', '\\']);
    let split = email.split_once('@').filter(|(local, domain)| !local.is_empty() && !domain.is_empty());
    // Programs disagree about which part of an address with two `@` is the domain.
    if split.is_none_or(|(_, domain)| domain.contains('@'))
        || email.contains(|letter: char| letter.is_whitespace() || letter.is_control())
        || has_special
    {
        return Err(UserError::new("email", "email must be an address such as name@example.com, and nothing else"));
    }
    Ok(email)
}
