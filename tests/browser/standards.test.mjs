// A platform team's first hour with standards: from the starter set to a campaign that has reached its end. With a pointer, and
// with keys alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, picture, visitor } from './browser.mjs';
import { KEYS, POINTER } from './hands.mjs';
import { start } from './server.mjs';

let browser;
before(async () => (browser = await open()));
after(() => browser?.close());

for (const hands of [POINTER, KEYS]) {
  test(`standards are written, missed, met and shown, ${hands.way}`, async () => {
    const server = await start();
    try {
      await hour(server, hands);
    } finally {
      await server.stop();
    }
  });
}

async function hour(server, { unit, take }) {
  const token = server.run('token', 'create', '--description', 'ci');
  const run = async (query, variables) => {
    const { body } = await server.graphql(token, query, variables);
    assert.equal(body.errors, undefined, JSON.stringify(body));
  };
  await run(`mutation {
    teamCreate(input: { name: "Payments" }) { errors { message } }
    cart: serviceCreate(input: { name: "cart" }) { errors { message } }
    mail: serviceCreate(input: { name: "mail", ownerAlias: "payments" }) { errors { message } }
  }`);
  const { page, problems, go, signIn } = await visitor(browser, server);
  const main = page.locator('main');
  // What is evaluated in the background appears within a second.
  const appears = async (what) => {
    for (let tries = 0; tries < 40 && (await what().count()) === 0; tries += 1) {
      await page.waitForTimeout(250);
      await page.reload();
    }
    await what().first().waitFor();
  };
  await signIn();
  const { used, click, fill, choose } = await take(page);
  const began = Date.now();

  // The starter set, and who fails.
  await click(page.getByRole('navigation').getByRole('link', { name: 'Standards' }));
  await click(page.getByRole('button', { name: 'Create the starter set' }));
  await click(main.getByRole('link', { name: 'Has an owner' }));
  const missed = main.locator('section', { hasText: 'Not passed' });
  await missed.getByRole('link', { name: 'cart', exact: true }).waitFor();
  assert.equal(await missed.getByRole('link', { name: 'mail' }).count(), 0);
  await picture(page, 'standards-1-fails');

  // A check that does not count yet shows whom it would fail; then it is switched on.
  await click(page.getByRole('navigation').getByRole('link', { name: 'Standards' }));
  await click(page.getByRole('link', { name: 'New check' }));
  await click(main.getByRole('link', { name: 'Tag defined' }));
  await fill(page.getByLabel('Name', { exact: true }), 'Names its data class');
  await choose(page.getByLabel('Level'), 'Bronze');
  await fill(page.getByLabel('Tag key'), 'data');
  await picture(page, 'standards-2-form');
  await click(page.getByRole('button', { name: 'Save' }));
  await main.getByText('off', { exact: true }).waitFor();
  await missed.getByRole('link', { name: 'cart', exact: true }).waitFor();
  await missed.getByRole('link', { name: 'mail', exact: true }).waitFor();
  await click(page.getByRole('button', { name: 'Switch on' }));
  await page.getByRole('button', { name: 'Switch off' }).waitFor();
  await appears(() => main.getByText('0 %', { exact: true }));

  // The service is mended by its file and by its pipeline, and passes.
  const text = 'version: 1\nservice:\n  name: cart\n  owner: payments\n  description: Sells.\n  tags: { data: personal }\n';
  await run('mutation($input: ServiceFilesApplyInput!) { serviceFilesApply(input: $input) { errors { message } } }', {
    input: { repository: 'https://git.example.com/shop', commit: 'a1b2', files: [{ path: 'rollcall.yml', text }] },
  });
  const endpoint = server.run('deploy-endpoint', 'create', '--name', 'CI');
  const url = server.origin + new URL(endpoint).pathname;
  const deploy = { service: 'cart', description: 'v1', deployed_at: new Date().toISOString(), deployer: { name: 'ci' } };
  const headers = { 'Content-Type': 'application/json' };
  assert.equal((await fetch(url, { method: 'POST', headers, body: JSON.stringify(deploy) })).status, 202);
  await appears(() => main.getByText('50 %', { exact: true }));
  await picture(page, 'standards-3-trend');

  // The page of the service says what changed, and why.
  await go('/services/cart');
  await click(main.getByRole('link', { name: 'All checks' }));
  await appears(() => main.getByRole('region', { name: 'Checks' }).getByRole('row', { name: /Has an owner.*passed/ }));
  await appears(() => main.getByRole('row', { name: /Was deployed in the last 90 days.*failed → passed.*a deploy/ }));
  await appears(() => main.getByRole('row', { name: /Has an owner.*failed → passed.*file applied by ci/ }));
  await picture(page, 'standards-4-history');

  // A campaign reaches its end.
  await click(page.getByRole('navigation').getByRole('link', { name: 'Standards' }));
  await click(page.getByRole('link', { name: 'New campaign' }));
  await fill(page.getByLabel('Name', { exact: true }), 'Every service names its data class');
  await fill(page.getByLabel('Owner (name or alias)'), 'Payments');
  await click(page.getByRole('button', { name: 'Create campaign' }));
  const copied = page.locator('select[name=checkIds]');
  await choose(copied, await copied.locator('option', { hasText: 'Names its data class' }).getAttribute('value'));
  await click(page.getByRole('button', { name: 'Add check' }));
  await fill(page.getByLabel('Start'), '2026-01-01');
  await fill(page.getByLabel('Target'), '2030-01-01');
  await click(page.getByRole('button', { name: 'Set dates' }));
  const campaign = new URL(page.url()).pathname.replace(/\/edit$/, '');
  await go(campaign);
  await appears(() => main.getByText('50 %', { exact: true }));
  await run('mutation { tagCreate(input: { alias: "mail", type: Service, key: "data", value: "none" }) { errors { message } } }');
  await appears(() => main.getByText('2 of 2 pass all checks'));
  await click(page.getByRole('link', { name: 'Edit' }));
  await click(main.locator('summary', { hasText: 'End it now' }));
  await click(page.getByRole('button', { name: /Yes, end it now/ }));
  await go(campaign);
  await main.getByText('ended', { exact: true }).first().waitFor();
  await picture(page, 'standards-5-campaign');

  console.log(`standards: ${used()} ${unit}, ${((Date.now() - began) / 1000).toFixed(1)} s`);
  if (unit === 'clicks') assert.ok(used() <= 22, `${used()} clicks`);
  assert.deepEqual(problems, []);
}
