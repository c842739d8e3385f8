// The picture in README: the page of a service as a team keeps it. The test checks that the page shows what README says of
// it. `npm run picture` also writes the picture.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { open, visitor } from './browser.mjs';
import { start } from './server.mjs';

const FILE = new URL('../../docs/service.png', import.meta.url).pathname;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([start(), open()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function catalogue() {
  server.run('sign-in-link', '--email', 'maria.lindqvist@example.com');
  const token = server.run('token', 'create', '--description', 'picture');
  const create = `mutation {
    teamCreate(input: { name: "Payments" }) { errors { message } }
    orders: teamCreate(input: { name: "Orders" }) { errors { message } }
    contactCreate(input: { teamAlias: "payments", type: slack, address: "#payments", displayName: "Payments" }) { errors { message } }
    domainCreate(input: { name: "Commerce" }) { errors { message } }
    systemCreate(input: { name: "Checkout", parent: { alias: "commerce" } }) { errors { message } }
    serviceCreate(input: {
      name: "Payments API", description: "Charges cards and bank accounts, and refunds them.", language: "Kotlin",
      framework: "Spring Boot", ownerInput: { alias: "payments" }, tierAlias: "tier_1", lifecycleAlias: "generally_available",
      parent: { alias: "checkout" }, type: { alias: "service" }
    }) { errors { message } }
    ledger: serviceCreate(input: {
      name: "Ledger", ownerInput: { alias: "payments" }, tierAlias: "tier_1", parent: { alias: "checkout" }
    }) { errors { message } }
    mailer: serviceCreate(input: { name: "Mailer", ownerInput: { alias: "orders" }, tierAlias: "tier_3" }) { errors { message } }
    cart: serviceCreate(input: { name: "Shopping Cart", ownerInput: { alias: "orders" }, tierAlias: "tier_1" }) { errors { message } }
    tagAssign(input: { alias: "payments_api", tags: [
      { key: "pci", value: "in scope" }, { key: "region", value: "eu-west-1" }
    ] }) { errors { message } }
    repositoryCreate(input: { name: "shop/payments-api", url: "https://github.com/shop/payments-api" }) { errors { message } }
    serviceRepositoryCreate(input: {
      service: { alias: "payments_api" }, repository: { alias: "github.com:shop/payments-api" }
    }) { errors { message } }
    toolCreate(input: {
      serviceAlias: "payments_api", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com/payments"
    }) { errors { message } }
    board: toolCreate(input: {
      serviceAlias: "payments_api", category: metrics, displayName: "Dashboard", url: "https://grafana.example.com/payments"
    }) { errors { message } }
    ${[['payments_api', 'ledger'], ['payments_api', 'mailer'], ['shopping_cart', 'payments_api']]
      .map(([from, to]) => `${from}_${to}: serviceDependencyCreate(inputV2: { dependencyKey: {
        sourceIdentifier: { alias: "${from}" }, destinationIdentifier: { alias: "${to}" } } }) { errors { message } }`)
      .join('\n')}
  }`;
  const { body } = await server.graphql(token, create);
  assert.ok(body.data, JSON.stringify(body));
  for (const [field, payload] of Object.entries(body.data)) assert.deepEqual(payload.errors, [], field);
}

const CHANGES = [
  ['Ada Moreau', 'Refund to the card that paid'],
  ['Tom Okafor', 'Answer 409 for a second refund'],
  ['Maria Lindqvist', 'Retry the acquirer after a timeout'],
  ['Ada Moreau', 'Round amounts as the ledger does'],
];

// Deploys of the last 30 days: the same at each run, two of them failed.
async function deploys() {
  const endpoint = server.run('deploy-endpoint', 'create', '--name', 'GitHub Actions');
  const now = Date.now();
  const count = 41;
  for (let at = 0; at < count; at += 1) {
    const end = now - 95 * MINUTE - (count - 1 - at) * (29 * DAY / count) - ((at * 7919) % 11) * 20 * MINUTE;
    const [name, message] = CHANGES[at % CHANGES.length];
    const sha = (0x1b3a3aee08 + at * 0x9e3779b1).toString(16).padEnd(40, '7c4');
    const deploy = {
      service: 'payments_api', description: message, environment: 'production', deploy_number: String(390 + at),
      deployed_at: new Date(end).toISOString(), started_at: new Date(end - (4 + (at % 3)) * MINUTE).toISOString(),
      deployer: { name }, status: [17, 38].includes(at) ? 'failed' : 'succeeded',
      commit: { sha, message, authoring_date: new Date(end - (2 + ((at * 13) % 9)) * 60 * MINUTE).toISOString() },
    };
    const answer = await fetch(endpoint, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(deploy),
    });
    assert.equal(answer.status, 202, await answer.text());
  }
}

test('the page of a service shows what the picture in README shows', async () => {
  await catalogue();
  await deploys();
  const user = await visitor(browser, server, { viewport: { width: 1280, height: 1372 }, colorScheme: 'light' });
  await user.signIn('maria.lindqvist@example.com');
  await user.go('/services/payments_api');
  const main = user.page.getByRole('main');
  const shown = ['Payments', 'Mission Critical', 'pci: in scope', 'shop/payments-api', 'Deployment frequency', 'Runbook'];
  for (const text of shown) await main.getByText(text).first().waitFor();
  assert.deepEqual(user.problems, []);
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  assert.ok(readme.includes('](docs/service.png)'));
  if (process.env.PICTURE) await user.page.screenshot({ path: FILE });
});
