//! The people, teams, systems and services of the example company.

/// A team: name, alias, parent, the email name of its manager, what it looks after, and its members.
pub type Team = (&'static str, &'static str, Option<&'static str>, &'static str, &'static str, &'static [&'static str]);

/// A service: name, owner, tier, lifecycle, system, language, description, and the aliases of what it depends on.
pub struct Service {
    pub name: &'static str,
    pub alias: &'static str,
    pub owner: Option<&'static str>,
    pub tier: Option<u8>,
    pub lifecycle: &'static str,
    pub system: Option<&'static str>,
    pub language: &'static str,
    pub description: &'static str,
    pub needs: &'static [&'static str],
}

/// The people: name, and the part of the email address before `@example.com`.
pub const PEOPLE: &[(&str, &str)] = &[
    ("Maya Okafor", "maya"),
    ("Ben Asher", "ben"),
    ("Lena Fischer", "lena"),
    ("Sam Whitlock", "sam"),
    ("Ivy Chen", "ivy"),
    ("Jon Bergman", "jon"),
    ("Aisha Rahman", "aisha"),
    ("Tomas Novak", "tomas"),
    ("Priya Nair", "priya"),
    ("Diego Santos", "diego"),
    ("Ruth Adler", "ruth"),
    ("Noah Kim", "noah"),
];

/// The teams, each after its parent.
pub const TEAMS: &[Team] = &[
    ("Engineering", "engineering", None, "ruth", "Everything that runs", &[]),
    ("Commerce", "commerce", Some("engineering"), "maya", "From the cart to the receipt", &["noah"]),
    ("Payments", "payments", Some("commerce"), "lena", "Money in and out", &["ben", "aisha"]),
    (
        "Catalogue & Search",
        "catalogue_search",
        Some("commerce"),
        "ivy",
        "What we sell, and how it is found",
        &["priya"],
    ),
    ("Platform", "platform", Some("engineering"), "sam", "What the other teams build on", &["tomas", "jon"]),
    ("Customer", "customer", Some("engineering"), "diego", "Accounts, messages and support", &["priya", "noah"]),
];

/// The systems: name, alias, owner and description.
pub const SYSTEMS: &[(&str, &str, &str, &str)] = &[
    ("Checkout", "checkout", "commerce", "Takes an order from the cart to the receipt"),
    ("Storefront", "storefront", "catalogue_search", "Shows what we sell"),
    ("Foundation", "foundation", "platform", "Runs under everything else"),
];

const fn service(
    (name, alias): (&'static str, &'static str),
    owner: Option<&'static str>,
    (tier, lifecycle): (Option<u8>, &'static str),
    system: Option<&'static str>,
    language: &'static str,
    description: &'static str,
    needs: &'static [&'static str],
) -> Service {
    Service { name, alias, owner, tier, lifecycle, system, language, description, needs }
}

const LIVE: &str = "generally_available";

/// The services.
pub const SERVICES: &[Service] = &[
    service(
        ("Cart", "cart"),
        Some("commerce"),
        (Some(1), LIVE),
        Some("checkout"),
        "Go",
        "Holds goods until they are paid for",
        &["payments_api", "pricing", "session_store"],
    ),
    service(
        ("Payments API", "payments_api"),
        Some("payments"),
        (Some(1), LIVE),
        Some("checkout"),
        "Kotlin",
        "Charges cards and accounts",
        &["ledger", "fraud_score", "vault"],
    ),
    service(
        ("Ledger", "ledger"),
        Some("payments"),
        (Some(1), LIVE),
        Some("checkout"),
        "Kotlin",
        "Books every movement of money",
        &["event_bus"],
    ),
    service(
        ("Fraud Score", "fraud_score"),
        None,
        (Some(2), LIVE),
        Some("checkout"),
        "Python",
        "Rates how likely a payment is a fraud",
        &["event_bus"],
    ),
    service(
        ("Invoices", "invoices"),
        Some("payments"),
        (Some(2), LIVE),
        Some("checkout"),
        "Kotlin",
        "Writes invoices and receipts",
        &["ledger", "mailer"],
    ),
    service(
        ("Refunds", "refunds"),
        Some("payments"),
        (Some(2), LIVE),
        Some("checkout"),
        "Kotlin",
        "Gives money back",
        &["ledger", "payments_api"],
    ),
    service(
        ("Pricing", "pricing"),
        Some("commerce"),
        (Some(1), LIVE),
        Some("checkout"),
        "Rust",
        "Computes prices, taxes and discounts",
        &["product_catalogue"],
    ),
    service(
        ("Orders", "orders"),
        Some("commerce"),
        (Some(1), LIVE),
        Some("checkout"),
        "Go",
        "Follows an order until it arrives",
        &["event_bus", "warehouse_gateway"],
    ),
    service(
        ("Warehouse Gateway", "warehouse_gateway"),
        Some("commerce"),
        (Some(2), LIVE),
        None,
        "Java",
        "Talks to the warehouse",
        &["event_bus"],
    ),
    service(
        ("Gift Cards", "gift_cards"),
        Some("commerce"),
        (Some(3), "beta"),
        Some("checkout"),
        "Go",
        "Sells and redeems gift cards",
        &["payments_api"],
    ),
    service(
        ("Product Catalogue", "product_catalogue"),
        Some("catalogue_search"),
        (Some(1), LIVE),
        Some("storefront"),
        "Java",
        "Knows every article",
        &["event_bus"],
    ),
    service(
        ("Search", "search"),
        Some("catalogue_search"),
        (Some(1), LIVE),
        Some("storefront"),
        "Rust",
        "Finds articles",
        &["product_catalogue"],
    ),
    service(
        ("Recommendations", "recommendations"),
        Some("catalogue_search"),
        (Some(3), LIVE),
        Some("storefront"),
        "Python",
        "Proposes what others bought",
        &["product_catalogue"],
    ),
    service(
        ("Web Shop", "web_shop"),
        Some("catalogue_search"),
        (Some(1), LIVE),
        Some("storefront"),
        "TypeScript",
        "The shop in the browser",
        &["cart", "search", "accounts"],
    ),
    service(
        ("Images", "images"),
        Some("catalogue_search"),
        (Some(3), LIVE),
        Some("storefront"),
        "Go",
        "Stores and scales pictures",
        &[],
    ),
    service(
        ("Accounts", "accounts"),
        Some("customer"),
        (Some(1), LIVE),
        None,
        "Elixir",
        "Signs customers in",
        &["vault", "session_store"],
    ),
    service(("Mailer", "mailer"), Some("customer"), (Some(2), LIVE), None, "Ruby", "Sends mail", &["event_bus"]),
    service(
        ("Push Gateway", "push_gateway"),
        Some("customer"),
        (Some(3), LIVE),
        None,
        "Elixir",
        "Sends messages to phones",
        &["event_bus"],
    ),
    service(
        ("Support Desk", "support_desk"),
        Some("customer"),
        (None, "alpha"),
        None,
        "TypeScript",
        "Where support answers",
        &["orders", "accounts"],
    ),
    service(
        ("Event Bus", "event_bus"),
        Some("platform"),
        (Some(1), LIVE),
        Some("foundation"),
        "Rust",
        "Carries events between services",
        &[],
    ),
    service(("Vault", "vault"), Some("platform"), (Some(1), LIVE), Some("foundation"), "Go", "Keeps secrets", &[]),
    service(
        ("Session Store", "session_store"),
        Some("platform"),
        (Some(2), LIVE),
        Some("foundation"),
        "Rust",
        "Keeps sessions and carts in memory",
        &[],
    ),
];
