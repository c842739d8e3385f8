//! Examples in the help of the commands. Lines are short enough for a narrow terminal.

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
  rollcall revert ID -o json               each field, for a program";

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

pub(super) const SERVE: &str = "\
Examples:
  rollcall serve --listen 127.0.0.1:9000   another port than 8080
  rollcall serve --app-url https://rollcall.example.com --trusted-proxies 127.0.0.1
  rollcall serve --database-url postgres://rollcall@db.example.com/rollcall";

pub(super) const TOKEN: &str = "\
Examples:
  rollcall token create --description CI   make one
  rollcall token list                      the ids, and when each was last used";

pub(super) const TOKEN_CREATE: &str = "\
Examples:
  rollcall token create --description \"an agent\" --scope read --expires 90d
  rollcall token create --description CI > token    keep it in a file";

pub(super) const TOKEN_LIST: &str = "\
Examples:
  rollcall token list                      with the ids that rotate and delete take
  rollcall token list | cut -f 1,4,6       id, last use and description";

pub(super) const TOKEN_ROTATE: &str = "\
Examples:
  rollcall token rotate 3 --overlap 7d     replace the old one within a week
  rollcall token rotate 3 --overlap 0s     it has leaked; rollcall token list has the id";

pub(super) const TOKEN_DELETE: &str = "\
Example:
  rollcall token delete 3                  rollcall token list has the id";

pub(super) const DEPLOY_ENDPOINT: &str = "\
Examples:
  rollcall deploy-endpoint create --name CI    the URL for a pipeline
  rollcall deploy-endpoint list";

pub(super) const DEPLOY_ENDPOINT_CREATE: &str = "\
Examples:
  rollcall deploy-endpoint create --name \"GitHub Actions\"
  rollcall deploy-endpoint create --name CI --app-url https://rollcall.example.com";

pub(super) const DEPLOY_ENDPOINT_LIST: &str = "\
Example:
  rollcall deploy-endpoint list            with the ids that delete takes";

pub(super) const DEPLOY_ENDPOINT_DELETE: &str = "\
Example:
  rollcall deploy-endpoint delete 2        its URL has leaked; the list has the id";

pub(super) const SIGN_IN_LINK: &str = "\
Examples:
  rollcall sign-in-link --email ada@example.com
  rollcall sign-in-link --email ada@example.com --name \"Ada Lovelace\"";

pub(super) const DOCTOR: &str = "\
Examples:
  rollcall doctor                          as the server would start here
  rollcall doctor --app-url https://rollcall.example.com --trusted-proxies 127.0.0.1";

pub(super) const HEALTHCHECK: &str = "\
Examples:
  rollcall healthcheck                     ready to answer?
  rollcall healthcheck --live --listen 127.0.0.1:9000";

pub(super) const MIGRATE: &str = "\
Examples:
  rollcall migrate                         rollcall.db in this folder
  rollcall migrate --database-url postgres://rollcall@db.example.com/rollcall";

pub(super) const BACKUP: &str = "\
Example:
  rollcall backup \"rollcall-$(date +%F).db\"    while the server runs";

pub(super) const EXPORT: &str = "\
Examples:
  rollcall export --output catalogue.jsonl
  rollcall export | gzip > catalogue.jsonl.gz";

pub(super) const IMPORT: &str = "\
Examples:
  rollcall import catalogue.jsonl --database-url postgres://rollcall@db.example.com/rollcall
  rollcall import - < catalogue.jsonl      from standard input";

pub(super) const SCHEMA: &str = "\
Examples:
  rollcall schema print > schema.graphql   for a client's generator
  rollcall schema diff old.graphql new.graphql";

pub(super) const SCHEMA_PRINT: &str = "\
Example:
  rollcall schema print > schema.graphql   for a client's generator";

pub(super) const SCHEMA_DIFF: &str = "\
Example:
  rollcall schema diff old.graphql new.graphql    status 1 if clients break";

pub(super) const APPLY: &str = "\
Examples:
  rollcall apply rollcall.yml              to the database here
  rollcall apply . --name rollcall.yml --dry-run
  rollcall apply rollcall.yml --server https://rollcall.example.com";

pub(super) const RELEASE: &str = "\
Example:
  rollcall release cart                    it may be changed on its page again";

pub(super) const DEPLOY: &str = "\
Examples, with the URL in ROLLCALL_DEPLOY_URL:
  rollcall deploy --service cart --environment production --status succeeded
  rollcall deploy --service cart --status failed --description \"Checkout timed out\"";

pub(super) const CHECK: &str = "\
Examples:
  rollcall check --dry-run                 this checkout; reports nothing
  rollcall check services/cart --fail      status 1 if a check fails";

pub(super) const STANDARDS: &str = "\
Examples:
  rollcall standards starter               begin with ten checks
  rollcall standards missing cart          what a service lacks
  rollcall standards failing \"Has an owner\"";

pub(super) const STANDARDS_EXPORT: &str = "\
Example:
  rollcall standards export > standards.yml    then edit it and run rollcall apply";

pub(super) const STANDARDS_RELEASE: &str = "\
Example:
  rollcall standards release standards.yml     its checks may be changed on their pages again";

pub(super) const STANDARDS_STARTER: &str = "\
Example:
  rollcall standards starter               keeps what is there already";

pub(super) const CONTEXT_LIST: &str = "\
Example:
  rollcall context list                    the current one has a *";

pub(super) const CONTEXT_USE: &str = "\
Example:
  rollcall context use work                rollcall context list has the names";

pub(super) const CONTEXT_DELETE: &str = "\
Example:
  rollcall context delete work             also forgets its token";

pub(super) const COMPLETIONS: &str = "\
Examples:
  rollcall completions bash > ~/.local/share/bash-completion/completions/rollcall
  rollcall completions fish > ~/.config/fish/completions/rollcall.fish";

pub(super) const MANUAL: &str = "\
Example:
  rollcall manual /usr/local/share/man/man1    then: man rollcall-list";

pub(super) const DEMO: &str = "\
Example:
  rollcall demo --database-url sqlite://demo.db    beside a catalogue of your own";

pub(super) const GENERATE: &str = "\
Example:
  rollcall generate --services 1000 --deploys 50000 --database-url sqlite://large.db";
