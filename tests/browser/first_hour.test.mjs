// The first hour of a new team, from the sign-in link to a token that is refused.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { open, picture, visitor } from './browser.mjs';
import { start } from './server.mjs';

let browser;
before(async () => (browser = await open()));
after(() => browser?.close());

// A separate server for each: the first hour begins with nothing.
const fresh = (name, hour) =>
  test(name, async () => {
    const server = await start();
    try {
      await hour(server);
    } finally {
      await server.stop();
    }
  });

const firstHour = async (server, width) => {
  const { page, problems, go, signIn } = await visitor(browser, server, { viewport: { width, height: 900 } });
  const main = page.locator('main');
  const seen = (name) => picture(page, `${name}-${width}`);
  // On a phone, the navigation is behind a button.
  const navigate = async (name) => {
    const menu = page.getByRole('button', { name: 'Menu' });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole('link', { name, exact: true }).click();
  };

  // Sign in with a link.
  await signIn();
  await seen('hour-1-services');

  // Create a token, which is shown once.
  await navigate('Tokens');
  await page.getByLabel('Description').fill('first hour');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = await page.locator('#secret').innerText();
  await seen('hour-2-token');
  const answer = await server.graphql(token, '{ account { name } }');
  assert.deepEqual(answer, { status: 200, body: { data: { account: { name: 'rollcall' } } } });
  await go('/tokens');
  assert.equal(await main.getByText(token).count(), 0);

  // Create a deploy endpoint and post a deploy with the snippet shown.
  await navigate('Integrations');
  await page.getByRole('link', { name: 'Add deploy integration' }).first().click();
  await page.getByLabel('Name').fill('By hand');
  await page.getByRole('button', { name: 'Create deploy integration' }).click();
  const snippet = page.getByRole('region', { name: 'curl' });
  await seen('hour-3-endpoint');
  const posted = execFileSync('sh', ['-c', await snippet.innerText()], { encoding: 'utf8', stdio: 'pipe' });
  assert.match(posted, /"result":/);
  await page.reload();
  await page.getByRole('cell', { name: 'shopping_cart' }).waitFor();
  await seen('hour-4-delivered');

  // Accept the suggestion and see the deploy on the page of the service.
  await navigate('Suggestions');
  await main.getByText('shopping_cart').first().waitFor();
  await seen('hour-5-suggestion');
  await page.getByRole('button', { name: 'Create service for shopping_cart' }).click();
  await page.waitForLoadState();
  await go('/services');
  const service = main.getByRole('link', { name: /shopping.cart/i }).first();
  await service.click();
  await main.getByText('Deployed by hand').first().waitFor();
  await seen('hour-6-service');

  // Say who owns it.
  await go('/new/team');
  await page.getByLabel('Name', { exact: true }).fill('Shop Team');
  await page.getByRole('button', { name: 'Create team' }).click();
  await page.getByRole('heading', { name: 'Shop Team', level: 1 }).waitFor();
  await go('/services/shopping_cart');
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Owner (name or alias)').fill('Shop Team');
  await page.getByLabel('Notes').fill('Run book: https://wiki.example.com/run');
  await page.getByRole('button', { name: 'Save' }).click();
  await main.getByRole('link', { name: 'Shop Team' }).waitFor();
  await main.getByRole('link', { name: 'https://wiki.example.com/run' }).waitFor();
  await seen('hour-7-owner');

  // Run a query in the explorer and open its documentation.
  await navigate('Explorer');
  await page.locator('.graphiql-query-editor').getByText('totalCount').waitFor();
  await page.getByRole('button', { name: /execute query/i }).click();
  await page.locator('.graphiql-response').getByText('totalCount').waitFor();
  await page.getByRole('button', { name: /documentation explorer/i }).first().click();
  await page.locator('.graphiql-doc-explorer').getByText('Root Types').waitFor();
  await page.locator('.graphiql-doc-explorer').getByText('Mutation', { exact: true }).click();
  await page.locator('.graphiql-doc-explorer').getByText('serviceCreate', { exact: true }).waitFor();
  await seen('hour-8-explorer');

  // Revoke the token and see it refused.
  await navigate('Tokens');
  await main.locator('summary', { hasText: 'Delete' }).first().click();
  await page.getByRole('button', { name: 'Yes, delete' }).click();
  await main.getByText('No tokens yet').waitFor();
  assert.equal((await server.graphql(token, '{ account { name } }')).status, 401);

  assert.deepEqual(problems, []);
};

for (const width of [1280, 360]) {
  fresh(`the first hour of a new team at ${width} px`, (server) => firstHour(server, width));
}

fresh('without scripts every form works', async (server) => {
  const { page, problems, go, signIn } = await visitor(browser, server, { javaScriptEnabled: false });
  const main = page.locator('main');
  await signIn();

  await go('/tokens');
  await page.getByLabel('Description').fill('no script');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = await page.locator('#secret').innerText();
  const made = 'mutation { serviceCreate(input: { name: "Plain Service" }) { errors { message } } }';
  assert.equal((await server.graphql(token, made)).status, 200);

  await go('/services');
  await page.getByRole('searchbox').fill('plain');
  await page.getByRole('searchbox').press('Enter');
  await page.waitForURL(/plain/);
  await main.getByRole('link', { name: 'Plain Service' }).waitFor();

  await go('/services/plain_service/edit');
  await page.getByLabel('Language').fill('Rust');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL('**/services/plain_service?done=saved');
  await main.getByText('Rust').waitFor();

  await go('/integrations/new?type=deploy');
  await page.getByLabel('Name').fill('No script');
  await page.getByRole('button', { name: 'Create deploy integration' }).click();
  const url = await page.locator('#address').innerText();
  const deploy = { service: 'unheard_of', description: 'x', deployed_at: '2026-01-02T03:04:05Z', deployer: { name: 'x' } };
  const headers = { 'Content-Type': 'application/json' };
  assert.equal((await fetch(url, { method: 'POST', headers, body: JSON.stringify(deploy) })).status, 202);
  await go('/suggestions');
  await page.getByRole('button', { name: 'Ignore unheard_of' }).click();
  await page.waitForURL('**/suggestions**');

  await go('/reference');
  await page.getByRole('searchbox').fill('serviceCreate');
  await page.getByRole('button', { name: 'Search' }).click();
  await main.getByRole('link', { name: 'Mutation.serviceCreate', exact: true }).click();
  await page.waitForURL('**/reference/Mutation#serviceCreate');

  await go('/tokens');
  await main.locator('summary', { hasText: 'Delete' }).first().click();
  await page.getByRole('button', { name: 'Yes, delete' }).click();
  await main.getByText('No tokens yet').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  assert.deepEqual(problems, []);
});
