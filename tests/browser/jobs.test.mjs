// What people come for, each as a job: with few clicks, or with keys alone, and in seconds. Each prints its clicks or keys, and
// its seconds, in a line. Standards are in standards.test.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { barriers, open, visitor } from './browser.mjs';
import { KEYS, POINTER } from './hands.mjs';
import { start } from './server.mjs';

const HOUR = 3_600_000;
// The longest that a job may take, in seconds.
const MINUTE = 60;
const SUGGESTIONS = 20;

// The server is another one for each way.
let server, browser, token, endpoint;
before(async () => (browser = await open()));
after(() => browser?.close());

// Runs an operation that must succeed, and returns its data.
async function run(query, variables) {
  const { body } = await server.graphql(token, query, variables);
  assert.equal(body.errors, undefined, JSON.stringify(body));
  for (const [name, payload] of Object.entries(body.data)) {
    if (payload?.errors) assert.deepEqual(payload.errors, [], name);
  }
  return body.data;
}

// A company in which something has happened.
async function catalogue() {
  // The first user is an administrator.
  server.run('sign-in-link', '--email', 'ada@example.com');
  token = server.run('token', 'create', '--description', 'ci', '--scope', 'admin');
  await run(`mutation {
    jon: userInvite(email: "jon@example.com", input: { name: "Jon Doe" }) { errors { message } }
    eve: userInvite(email: "eve@example.com", input: { name: "Eve" }) { errors { message } }
    mia: userInvite(email: "mia@example.com", input: { name: "Mia Roe" }) { errors { message } }
    commerce: teamCreate(input: { name: "Commerce" }) { errors { message } }
    payments: teamCreate(input: {
      name: "Payments", parentTeam: { alias: "commerce" }, managerEmail: "jon@example.com", members: [{ email: "jon@example.com" }]
    }) { errors { message } }
    orders: teamCreate(input: { name: "Orders", parentTeam: { alias: "commerce" } }) { errors { message } }
    cart: serviceCreate(input: { name: "Cart", ownerInput: { alias: "orders" }, tierAlias: "tier_1" }) { errors { message } }
    ledger: serviceCreate(input: { name: "Ledger", ownerInput: { alias: "payments" }, tierAlias: "tier_2" }) { errors { message } }
    mailer: serviceCreate(input: { name: "Mailer", ownerInput: { alias: "orders" }, tierAlias: "tier_2" }) { errors { message } }
    bus: serviceCreate(input: { name: "Event Bus", tierAlias: "tier_1" }) { errors { message } }
    runbook: toolCreate(input: {
      serviceAlias: "cart", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com/cart"
    }) { errors { message } }
    nights: serviceOnCallsUpdate(input: {
      service: { alias: "cart" }, onCalls: [{ name: "Mia Roe", externalEmail: "mia@example.com" }]
    }) { errors { message } }
    days: serviceOnCallsUpdate(input: {
      service: { alias: "ledger" }, onCalls: [{ name: "Jon Doe", externalEmail: "jon@example.com" }]
    }) { errors { message } }
    needs: serviceDependencyCreate(inputV2: { dependencyKey: {
      sourceIdentifier: { alias: "cart" }, destinationIdentifier: { alias: "event_bus" } } }) { errors { message } }
    also: serviceDependencyCreate(inputV2: { dependencyKey: {
      sourceIdentifier: { alias: "mailer" }, destinationIdentifier: { alias: "cart" } } }) { errors { message } }
  }`);
  // A wrong edit.
  await run('mutation { serviceUpdate(input: { alias: "mailer", tierAlias: "tier_4" }) { errors { message } } }');
  endpoint = server.origin + new URL(server.run('deploy-endpoint', 'create', '--name', 'CI')).pathname;
  const deploys = [
    { service: 'ledger', status: 'success', hours: 9, deployer: { name: 'Jon Doe', email: 'jon@example.com' } },
    { service: 'cart', status: 'failed', hours: 10, deployer: { name: 'Mia Roe', email: 'mia@example.com' } },
    ...Array.from({ length: SUGGESTIONS }, (_, at) => ({ service: `unheard-of-${at}`, status: 'success', hours: 11, deployer: { name: 'ci' } })),
  ];
  for (const [number, { service, status, hours, deployer }] of deploys.entries()) {
    const deployed_at = new Date(Date.now() - hours * HOUR).toISOString();
    await deploy({ service, status, deployer, deployed_at, description: `change ${number}`, environment: 'production' });
  }
}

// Posts a deploy as a pipeline does.
async function deploy(one) {
  const headers = { 'Content-Type': 'application/json' };
  assert.equal((await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(one) })).status, 202);
}

const jobs = [];

// A job of somebody, usually an administrator, who has signed in and sees the home page. It takes at most so many clicks with
// a pointer, and is done with keys alone, too.
function job(name, most, does, who = 'ada@example.com') {
  jobs.push({ name, most, does, who });
}

// Does a job in one of the ways.
async function done({ unit, take }, { name, most, does, who }) {
  const one = await visitor(browser, server);
  const { page } = one;
  await one.signIn(who);
  try {
    const hands = await take(page);
    const began = Date.now();
    await does({
      ...one,
      ...hands,
      main: page.locator('main'),
      // Opens a page from the navigation.
      navigate: (label) => hands.click(page.locator('#rail').getByRole('link', { name: label })),
      // Finds something from any page, with keys alone.
      find: async (words, result) => {
        await hands.press('/');
        // It searches for what is typed so far, too.
        const all = page.waitForResponse((response) => new URL(response.url()).searchParams.get('q') === words);
        await hands.type(words);
        await all;
        await page.getByRole('dialog', { name: 'Search' }).getByRole('link', { name: result }).first().waitFor();
        await hands.press('ArrowDown');
        await hands.press('Enter');
      },
    });
    const seconds = (Date.now() - began) / 1000;
    console.log(`job: ${name}, ${hands.used()} ${unit}, ${seconds.toFixed(1)} s`);
    if (unit === 'clicks') assert.ok(hands.used() <= most, `${hands.used()} clicks, and at most ${most} are enough`);
    assert.ok(seconds <= MINUTE, `${seconds} s`);
    assert.deepEqual(one.problems, []);
    assert.deepEqual(await barriers(page), []);
  } finally {
    await one.context.close();
  }
}

job('onboard a service by hand, with its owner, runbook, contact and what it needs', 6, async (one) => {
  const { page, main, click, fill, choose, navigate } = one;
  await navigate('Services');
  await click(page.getByRole('link', { name: 'New service' }));
  await fill(page.getByLabel('Name', { exact: true }), 'Refunds API');
  await fill(page.getByLabel('Description'), 'Gives money back.');
  await fill(page.getByLabel('Owner (name or alias)'), 'Payments');
  await choose(page.locator('select[name=tierAlias]'), 'tier_1');
  // What is optional is folded.
  await click(main.locator('summary', { hasText: 'A link' }));
  await choose(page.locator('select[name="tools.0.category"]'), 'runbooks');
  await fill(page.locator('input[name="tools.0.displayName"]'), 'Runbook of refunds');
  await fill(page.locator('input[name="tools.0.url"]'), 'https://wiki.example.com/refunds');
  await click(main.locator('summary', { hasText: 'A contact' }));
  await choose(page.locator('select[name="contacts.0.type"]'), 'slack');
  await fill(page.locator('input[name="contacts.0.address"]'), '#refunds');
  await click(main.locator('summary', { hasText: 'A dependency' }));
  await fill(page.locator('input[name="dependencies.0.service.alias"]'), 'Event Bus');
  await click(page.getByRole('button', { name: 'Create service' }));
  await page.waitForURL(/\/services\/refunds_api/);
  await main.getByRole('link', { name: 'Payments' }).first().waitFor();
  // The page says what is missing, and nothing that was just said.
  await main.getByRole('link', { name: 'Add Repository' }).waitFor();
  assert.equal(await main.getByRole('link', { name: /^Add (Links|Contact|Dependency)/ }).count(), 0);
  const { account } = await run(`{ account { service(alias: "refunds_api") {
    owner { alias } tier { alias } tools { totalCount } contacts { address } dependencies { edges { node { name } } }
  } } }`);
  assert.deepEqual(account.service, {
    owner: { alias: 'payments' },
    tier: { alias: 'tier_1' },
    tools: { totalCount: 1 },
    contacts: [{ address: '#refunds' }],
    dependencies: { edges: [{ node: { name: 'Event Bus' } }] },
  });
});

job('services of tier 1 without an owner', 4, async ({ page, main, click, choose, navigate }) => {
  await navigate('Services');
  await click(main.locator('summary', { hasText: 'Add a filter' }));
  await choose(main.locator('form[role=search] select[name=tier]'), 'tier_1');
  await click(main.locator('form[role=search] input[name=unowned]'));
  await click(main.locator('form[role=search]').getByRole('button', { name: 'Apply' }));
  await page.waitForURL(/unowned=1/);
  await main.getByText(/^1 service/).waitFor();
  await main.getByRole('link', { name: 'Event Bus' }).waitFor();
});

job('who deployed what last night', 1, async ({ main, navigate }) => {
  await navigate('Deploys');
  for (const who of ['Jon Doe', 'Mia Roe']) await main.getByText(who).first().waitFor();
  await main.getByRole('link', { name: 'Ledger' }).first().waitFor();
  await main.getByRole('row', { name: /Cart.*failed/ }).first().waitFor();
});

job('a deploy shows while the list is open, unless somebody uses it', 1, async ({ page, main, focus, navigate, go }) => {
  await page.clock.install();
  await go('/');
  await navigate('Deploys');
  await main.getByRole('link', { name: 'Ledger' }).first().waitFor();
  const deployed_at = new Date().toISOString();
  await deploy({ service: 'ledger', status: 'success', deployer: { name: 'ci' }, description: 'newer than the page', deployed_at });
  await focus(main.locator('#deploys a').first());
  await page.clock.runFor(40_000);
  assert.equal(await main.getByText('newer than the page').count(), 0);
  await focus(main.getByRole('link', { name: 'Download CSV' }));
  await page.clock.runFor(2_000);
  await main.getByText('newer than the page').first().waitFor();
  await main.getByText(/^Updated at /).waitFor();
  await page.clock.resume();
});

job('whether a team is getting better', 2, async ({ page, main, click, fill, choose, navigate }) => {
  await navigate('Delivery');
  await choose(main.getByLabel('Delivery of'), 'team');
  await fill(main.getByLabel('Name or alias'), 'payments');
  await click(main.getByRole('button', { name: 'Show' }));
  await page.waitForURL('**/delivery?team=payments');
  for (const figure of ['Deploys', 'Lead time', 'Failure rate', 'Recovery']) {
    await main.locator('.figure', { hasText: figure }).first().waitFor();
  }
});

job('rotate a token', 3, async ({ page, main, click, navigate }) => {
  const old = server.run('token', 'create', '--description', 'nightly import');
  await navigate('Tokens');
  const row = main.getByRole('row', { name: /nightly import/ });
  await click(row.locator('summary', { hasText: 'Rotate' }));
  await click(row.locator('form button', { hasText: 'Rotate' }));
  const secret = await page.locator('#secret').innerText();
  // Both work for a day, so that whoever uses the old one has time to take the new one.
  assert.notEqual(secret, old);
  for (const one of [old, secret]) {
    assert.equal((await server.graphql(one, '{ account { name } }')).status, 200);
  }
});

job('give a webhook whose URL has leaked a new one', 4, async ({ page, main, click, navigate }) => {
  const made = await run(`mutation {
    eventIntegrationCreate(input: { name: "Leaked", type: deploy }) { integration { webhookUrl } errors { message } }
  }`);
  const old = new URL(made.eventIntegrationCreate.integration.webhookUrl).pathname;
  await navigate('Integrations');
  await click(main.getByRole('link', { name: 'Leaked' }));
  await click(main.locator('summary', { hasText: 'New URL' }));
  await click(main.locator('form button', { hasText: 'Yes, new URL' }));
  await page.getByText('It has a new URL, which is below.').waitFor();
  const [now] = (await main.locator('#address').textContent()).match(/\/integrations\/deploy\/[0-9a-f-]+/);
  assert.notEqual(now, old);
  const post = (path) => fetch(server.origin + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  assert.equal((await post(old)).status, 404);
  assert.equal((await post(now)).status, 400);
});

job('add a tier, and delete it when nothing uses it', 6, async ({ page, main, click, fill, navigate }) => {
  await navigate('Definitions');
  await click(main.getByRole('link', { name: 'New tier' }));
  await fill(page.getByLabel('Name', { exact: true }), 'Edge');
  await click(main.getByRole('button', { name: 'Create tier' }));
  await click(main.getByRole('row', { name: /^Edge/ }).getByRole('link', { name: 'Edit' }));
  await main.getByText('Nothing uses this tier.').waitFor();
  await click(main.locator('summary', { hasText: 'Delete' }));
  await click(main.getByRole('button', { name: 'Yes, delete' }));
  await page.getByText('Deleted.').waitFor();
  assert.equal(await main.getByRole('row', { name: /^Edge/ }).count(), 0);
});

job('a leaver hands everything over in one form', 3, async ({ page, main, click, fill, navigate }) => {
  const forms = [];
  page.on('request', (request) => request.method() === 'POST' && forms.push(new URL(request.url()).pathname));
  await navigate('Users');
  await click(main.getByRole('link', { name: 'Jon Doe' }));
  await main.getByRole('heading', { name: 'Leads' }).waitFor();
  await main.getByRole('link', { name: 'Payments' }).first().waitFor();
  await fill(page.getByLabel('Who takes over'), 'mia@example.com');
  await click(page.getByRole('button', { name: /^Hand over and delete/ }));
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
  assert.equal(await main.getByText('jon@example.com').count(), 0);
  assert.equal(forms.length, 1, forms.join(' '));
  const { account } = await run(`{ account {
    team(alias: "payments") { manager { email } } service(alias: "ledger") { onCalls { nodes { externalEmail } } }
  } }`);
  assert.deepEqual(account, {
    team: { manager: { email: 'mia@example.com' } },
    service: { onCalls: { nodes: [{ externalEmail: 'mia@example.com' }] } },
  });
});

job('what breaks if the event bus is down', 1, async ({ page, main, click, find }) => {
  await find('event bus', /Event Bus/);
  await page.waitForURL('**/services/event_bus');
  await click(main.getByRole('link', { name: 'Larger picture, and what its failure can reach' }));
  const reached = main.getByRole('region', { name: 'What its failure can reach' });
  for (const service of ['Cart', 'Mailer']) await reached.getByRole('link', { name: service }).waitFor();
});

job('who is on call for a service, and where its runbook is', 0, async ({ page, main, find }) => {
  await find('cart', /^Cart/);
  await page.waitForURL('**/services/cart');
  await main.getByText('Mia Roe').first().waitFor();
  const runbook = main.getByRole('link', { name: 'Runbook' }).first();
  assert.equal(await runbook.getAttribute('href'), 'https://wiki.example.com/cart');
  const box = await runbook.boundingBox();
  assert.ok(box.y + box.height < 900, `on the first screen: ${JSON.stringify(box)}`);
});

job('a list as a file', 2, async ({ page, click, navigate }) => {
  await navigate('Services');
  const begun = page.waitForEvent('download');
  await click(page.getByRole('link', { name: 'Download CSV' }));
  const download = await begun;
  assert.equal(download.suggestedFilename(), 'services.csv');
  const text = readFileSync(await download.path(), 'utf8');
  assert.match(text, /^name,alias,owner,/);
  assert.match(text, /\r\nCart,cart,Orders,/);
});

job('who changed what, and undo a wrong edit', 3, async ({ page, main, click, find }) => {
  await find('mailer', /^Mailer/);
  await page.waitForURL('**/services/mailer');
  await click(page.getByRole('link', { name: 'History' }));
  const newest = main.getByRole('region', { name: 'Changes' }).getByRole('row').nth(1);
  await newest.getByText(/ci/).first().waitFor();
  await click(newest.locator('a[href^="/changes/"]').first());
  await main.getByRole('heading', { name: 'The revert' }).waitFor();
  await click(page.getByRole('button', { name: 'Revert this change' }));
  await page.waitForURL(/\/services\/mailer\/history/);
  const { account } = await run('{ account { service(alias: "mailer") { tier { alias } } } }');
  assert.equal(account.service.tier.alias, 'tier_2');
});

job(`accept ${SUGGESTIONS} suggestions`, 6, async ({ page, main, click, fill, choose, navigate }) => {
  await navigate(/^Suggestions/);
  assert.equal(await main.locator('input[name=id][type=checkbox]').count(), SUGGESTIONS);
  await main.getByRole('columnheader', { name: 'Proposed service' }).waitFor();
  // Nothing is loaded for that: what is filled in stays, and so does the focus.
  await fill(page.getByLabel('Owner of the new services'), 'Orders');
  await click(main.getByRole('button', { name: 'Choose all on this page' }));
  const none = main.getByRole('button', { name: 'Choose none' });
  assert.equal(await none.evaluate((button) => button === document.activeElement), true);
  assert.equal(await main.locator('input[name=id]:checked').count(), SUGGESTIONS);
  await choose(page.getByLabel('Their tier'), 'tier_3');
  await click(page.getByRole('button', { name: 'Create services for the chosen' }));
  await main.getByText(`${SUGGESTIONS} services created`).waitFor();
  await main.getByText('No open suggestions.').waitFor();
  const { account } = await run('{ account { services(ownerAlias: "orders", tierAlias: "tier_3") { totalCount } } }');
  assert.equal(account.services.totalCount, SUGGESTIONS);
});

job('find a service by a name that is half remembered', 0, async ({ page, main, find }) => {
  await find('legder', /^Ledger/);
  await page.waitForURL('**/services/ledger');
  await main.getByRole('heading', { name: 'Ledger', level: 1 }).waitFor();
});

const news = async ({ page, main, navigate }) => {
  await navigate('Home');
  await main.getByRole('heading', { name: /^Changed since yesterday/ }).waitFor();
  await main.locator('section', { has: page.locator('h2#changes') }).getByRole('link').first().waitFor();
  await main.locator('section', { has: page.locator('h2#deploys') }).getByRole('link', { name: 'Ledger' }).first().waitFor();
};
// Somebody who has not been here since.
job('what is new since yesterday', 1, news, 'eve@example.com');

job('see the organisation', 1, async ({ page, main, navigate }) => {
  await navigate('Teams');
  const top = main.locator('ul.tree > li', { has: page.getByRole('link', { name: 'Commerce' }) }).first();
  for (const part of ['Payments', 'Orders']) await top.locator('ul.tree').getByRole('link', { name: part }).first().waitFor();
});

for (const hands of [POINTER, KEYS]) {
  describe(hands.way, () => {
    before(async () => {
      server = await start();
      await catalogue();
    });
    after(async () => {
      await server?.stop();
      server = undefined;
    });
    for (const one of jobs) test(`a job: ${one.name}`, () => done(hands, one));
  });
}
