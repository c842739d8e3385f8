//! Examples in the help of the commands that read. Lines are short enough for a narrow terminal.

pub(super) const SHOW: &str = "\
Examples:
  rollcall show cart                       whatever is called cart
  rollcall show team payments -o json      all of a team, for a program";

pub(super) const OPEN: &str = "\
Example:
  xdg-open \"$(rollcall open cart)\"         its page, in the browser";

pub(super) const IMPACT: &str = "\
Examples:
  rollcall impact cart                     what breaks if the service is down
  rollcall impact system shop -o csv       the same of all services of a system
  rollcall impact infrastructure orders    what needs this database";

pub(super) const LIST: &str = "\
Examples:
  rollcall list services --owner payments --tier 1
  rollcall list services --filter '!owner'               those without an owner
  rollcall list services --filter tag=env:prod -o csv
  rollcall list infrastructure --filter type=database";

pub(super) const SEARCH: &str = "\
Example:
  rollcall search shoping cart             mistyped words are found too";

pub(super) const DEPLOYS: &str = "\
Examples:
  rollcall deploys --since yesterday --until yesterday
  rollcall deploys --status failed -e production --since 30d
  rollcall deploys --service cart --limit 5 -o json";

pub(super) const HISTORY: &str = "\
Examples:
  rollcall history cart                    who changed what, newest first
  rollcall history team payments --since 7d";

pub(super) const REVERT: &str = "\
Examples:
  rollcall revert ID --dry-run             what it would do; rollcall history has the id
  rollcall revert ID";

pub(super) const DELIVERY: &str = "\
Examples:
  rollcall delivery team payments          is the team getting better?
  rollcall delivery                        all services together";

pub(super) const WHO_OWNS: &str = "\
Examples:
  rollcall who-owns src/payments           a folder of this checkout
  rollcall who-owns github.com:org/shop    a repository";

pub(super) const MCP: &str = "\
Example:
  claude mcp add rollcall -- rollcall mcp  an agent starts it itself";

pub(super) const QUERY: &str = "\
Examples:
  rollcall query '{ account { tiers { name } } }'
  rollcall query services.graphql --variables '{\"first\": 10}'";

pub(super) const LOGIN: &str = "\
Example:
  echo \"$TOKEN\" | rollcall login --server https://rollcall.example.com";

pub(super) const CONTEXT: &str = "\
Examples:
  rollcall context list
  rollcall context use work";

pub(super) const MISSING: &str = "\
Examples:
  rollcall standards missing cart
  rollcall standards missing cart -o json  with what each check found";

pub(super) const FAILING: &str = "\
Examples, of the starter set and of a scorecard; rollcall standards list has the names:
  rollcall standards failing \"Has an owner\"
  rollcall standards failing on_call       the checks of the scorecard on_call";

pub(super) const CHECKS: &str = "\
Example:
  rollcall standards list                  which names standards failing takes";
