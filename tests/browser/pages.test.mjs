// Every page, wide and narrow, light and dark: no errors, everything reachable, nothing overflows.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { barriers, open, picture, visitor } from './browser.mjs';
import { start, startDemo } from './server.mjs';

let server, browser, pages;
before(async () => {
  [server, browser] = await Promise.all([start(), open()]);
  pages = await catalogue();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const WIDTHS = [1280, 360];
const SCHEMES = ['light', 'dark'];

// Content for every page, including long names.
async function catalogue() {
  // The first user is an administrator.
  server.run('sign-in-link', '--email', 'ada@example.com');
  server.run('generate', '--services', '120');
  const token = server.run('token', 'create', '--description', 'pages');
  const endpoint = server.run('deploy-endpoint', 'create', '--name', 'Pages');
  const long = 'a-service-whose-name-is-so-long-that-no-table-on-a-small-screen-could-ever-hold-it-in-one-line-'.repeat(2);
  const create = `mutation ($name: String!, $note: String!) {
    serviceCreate(input: { name: $name, note: $note, description: "مرحبا" }) { errors { message } }
  }`;
  await server.graphql(token, create, { name: long, note: `    ${long}\n\n# Title\n\n- https://example.com/${long}` });
  for (const [service, status] of [['svc-1', 'success'], ['svc-1', 'failed'], ['nobody-knows', 'running'], [long, 'queued']]) {
    const deploy = { service, status, description: 'Ship it', deployed_at: new Date().toISOString(), environment: 'production' };
    const body = JSON.stringify({ ...deploy, deployer: { name: 'Ada' } });
    await fetch(endpoint, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  }
  // What surrounds a service: its system and domain, contacts, links, dependencies.
  const around = `mutation ($name: String!) {
    till: serviceCreate(input: { name: "Till" }) { errors { message } }
    stock: serviceCreate(input: { name: "Stock" }) { errors { message } }
    domainCreate(input: { name: $name }) { errors { message } }
    repositoryCreate(input: { name: $name, url: "https://github.com/org/long", description: $name }) { errors { message } }
    serviceRepositoryCreate(input: { service: { alias: "svc-1" }, repository: { alias: "github.com:org/long" }, baseDirectory: $name }) { errors { message } }
    filterCreate(input: { name: $name, predicates: { key: name, type: contains, value: $name } }) { errors { message } }
    levelCreate(input: { name: $name, description: $name }) { errors { message } }
    commerce: domainCreate(input: { name: "Commerce", description: "What customers pay for" }) { errors { message } }
    systemCreate(input: { name: "Shop", parent: { alias: "commerce" } }) { errors { message } }
    longSystem: systemCreate(input: { name: $name, note: $name, parent: { alias: "commerce" } }) { errors { message } }
    systemChildAssign(system: { alias: "shop" }, childServices: [{ alias: "svc-1" }, { alias: "svc-2" }]) { errors { message } }
    toolCreate(input: { serviceAlias: "svc-1", category: runbooks, displayName: "Runbook", url: "https://wiki.example.com" }) { errors { message } }
    longTool: toolCreate(input: { serviceAlias: "svc-1", category: logs, displayName: $name, url: "https://logs.example.com", environment: "production" }) { errors { message } }
    contactCreate(input: { teamAlias: "team-1", type: slack, address: "#on-call", displayName: "On call" }) { errors { message } }
    mail: contactCreate(input: { teamAlias: "team-1", type: email, address: "team@example.com" }) { errors { message } }
    serviceDependencyCreate(inputV2: { dependencyKey: {
      sourceIdentifier: { alias: "svc-1" }, destinationIdentifier: { alias: "svc-2" } }, notes: $name }) { errors { message } }
    infrastructureResourceCreate(input: {
      schema: { type: "Database" }, data: { name: $name, port: 5432 }, providerData: { accountName: "live", providerName: "Cloud" }
    }) { errors { message } }
    relationshipCreate(relationshipDefinition: {
      type: related_to, source: { alias: "svc-1" }, target: { alias: "shop" } }) { errors { message } }
    propertyDefinitionCreate(input: { name: "Room", description: "Where it runs", schema: { type: "string" } }) { errors { message } }
    longProperty: propertyDefinitionCreate(input: { name: $name, schema: { type: "array" } }) { errors { message } }
    awsIntegrationCreate(input: {
      name: $name, iamRole: $name, ownershipTagKeys: ["owner", $name], awsTagsOverrideOwnership: true, regionOverride: ["eu-west-1"]
    }) { errors { message } }
    kubernetesIntegrationCreate(input: { extractDefinition: "a: ${long}", transformDefinition: "a: 1" }) { errors { message } }
    back: serviceDependencyCreate(inputV2: { dependencyKey: {
      sourceIdentifier: { alias: "svc-3" }, destinationIdentifier: { alias: "svc-1" } } }) { errors { message } }
  }`;
  const done = await server.graphql(token, around, { name: long });
  for (const [field, payload] of Object.entries(done.body.data)) assert.deepEqual(payload.errors, [], field);
  // A service with many dependents, in a cycle with one of them.
  const needs = (from, to) => `n${from}: serviceDependencyCreate(inputV2: { dependencyKey: {
    sourceIdentifier: { alias: "svc-${from}" }, destinationIdentifier: { alias: "svc-${to}" } } }) { errors { message } }`;
  const dependents = Array.from({ length: 90 }, (_, at) => needs(at + 10, 4));
  const many = await server.graphql(token, `mutation { ${[...dependents, needs(4, 50)].join(' ')} }`);
  // Some are generated already.
  const made = Object.values(many.body.data).filter(({ errors }) => errors.length === 0);
  assert.ok(made.length > 80, JSON.stringify(many.body.data));
  const entries = await server.graphql(token, `{ account {
    service(alias: "svc-1") { tools { nodes { id } } } infrastructureResources { nodes { id } } team(alias: "team-1") { contacts { id } } } }`);
  const { service, team, infrastructureResources } = entries.body.data.account;
  const first = await server.graphql(token, '{ account { integrations { nodes { id type } } teams(first: 1) { nodes { alias } } tiers { id } } }');
  const { integrations, teams, tiers } = first.body.data.account;
  return {
    home: '/',
    deploys: '/deploys',
    'deploys-failed': '/deploys?status=failed',
    delivery: '/delivery',
    'delivery-service': '/delivery?service=svc-1',
    'deploys-unknown': '/deploys?team=nobody',
    'service-history': '/services/svc-1/history',
    services: '/services',
    'services-none': '/services?search=there+is+no+such+service',
    'services-sorted': '/services?sort=owner_DESC',
    search: '/search?q=cart',
    'search-none': '/search?q=xyzzyq',
    'search-empty': '/search',
    'search-people': '/search?of=users&q=a',
    'search-systems': '/search?of=systems&q=a',
    service: '/services/svc-1',
    'service-long': `/services/${encodeURIComponent(long)}`,
    'service-deploys': '/services/svc-1/deploys',
    deploys: '/deploys',
    'service-edit': `/services/${encodeURIComponent(long)}/edit`,
    'service-new': '/new/service',
    'service-graph': '/services/svc-4/graph',
    'service-graph-long': '/services/svc-2/graph?steps=1',
    'service-graph-none': '/services/svc-120/graph',
    'service-contacts': '/services/svc-1/contacts',
    'service-tools': '/services/svc-1/tools',
    'tool-edit': `/services/svc-1/tools/${service.tools.nodes[1].id}`,
    'service-dependencies': '/services/svc-1/dependencies',
    'service-repositories': '/services/svc-1/repositories',
    'service-on-call': '/services/svc-1/on-call',
    'service-properties': '/services/svc-1/properties',
    'services-columns': '/services?columns=alias,owner,tags,system,type',
    'services-favourites': '/services?favourites=1',
    views: '/views',
    repositories: '/repositories',
    repository: '/repositories/1',
    definitions: '/definitions',
    'tier-new': '/new/tier',
    'tier-edit': `/definitions/tiers/${tiers[0].id}/edit`,
    'lifecycle-new': '/new/lifecycle',
    'property-definition-new': '/new/property-definition',
    'filter-new': '/new/filter',
    standards: '/standards',
    'campaign-new': '/new/campaign',
    events: '/events',
    'event-subscription-new': '/new/event-subscription',
    'check-new': '/new/check',
    'check-new-event': '/new/check/custom-event',
    'check-new-tag': '/new/check/tag-defined',
    'level-new': '/new/level',
    'service-standards': '/services/svc-1/standards',
    user: '/users/1',
    infrastructure: '/infrastructure',
    'infrastructure-resource': `/infrastructure/${infrastructureResources.nodes[0].id}`,
    systems: '/systems',
    system: '/systems/shop',
    'system-edit': '/systems/shop/edit',
    'system-new': '/new/system',
    domains: '/domains',
    domain: '/domains/commerce',
    'domain-edit': '/domains/commerce/edit',
    'domain-new': '/new/domain',
    'team-contacts': '/teams/team-1/contacts',
    'contact-edit': `/teams/team-1/contacts/${team.contacts[0].id}`,
    teams: '/teams',
    'team-edit': `/teams/${teams.nodes[0].alias}/edit`,
    'team-new': '/new/team',
    team: `/teams/${teams.nodes[0].alias}`,
    suggestions: '/suggestions',
    integrations: '/integrations',
    'integration-new': '/integrations/new?type=deploy',
    integration: `/integrations/${integrations.nodes[0].id}`,
    'integration-cloud': `/integrations/${integrations.nodes.find(({ type }) => type === 'aws').id}`,
    'integration-cluster': `/integrations/${integrations.nodes.find(({ type }) => type === 'kubernetes').id}`,
    tokens: '/tokens',
    users: '/users',
    audit: '/audit',
    account: '/account',
    explorer: '/explorer',
    reference: '/reference',
    'reference-search': '/reference?q=deploy',
    'reference-none': '/reference?q=xyzzy',
    'reference-account': '/reference/Account',
    'reference-input': '/reference/ServiceCreateInput',
    'reference-enum': '/reference/IntegrationTypeEnum',
    'reference-mutation': '/reference/Mutation',
    'reference-interface': '/reference/Integration',
  };
}

// Pages with a table whose columns are compared beside each other, with names as long as people made them.
const MAY_SCROLL = new Set(['revert']);

// The tables of the page with columns out of sight.
const cut = (page) =>
  page.locator('.scroll:has(> table)').evaluateAll((boxes) => {
    const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
    return wide.map((box) => `${box.getAttribute('aria-label')} is cut: ${box.scrollWidth} px in ${box.clientWidth}`);
  });

async function check(visitor, name, path) {
  const { page, problems, go } = visitor;
  const answer = await go(path);
  assert.equal(answer.status(), 200, path);
  if (name === 'explorer') {
    await page.getByRole('button', { name: /documentation explorer/i }).first().click();
    await page.locator('.graphiql-doc-explorer').getByText('Mutation', { exact: true }).click();
    await page.locator('.graphiql-doc-explorer').getByText('serviceCreate', { exact: true }).waitFor();
  }
  const { width } = page.viewportSize();
  const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await picture(page, `${name}-${width}-${visitor.scheme}`);
  const found = [...problems.splice(0), ...(await barriers(page))];
  // The details of the audit are read, so they are never out of sight.
  if (name === 'audit' || (width === 360 && !MAY_SCROLL.has(name))) found.push(...(await cut(page)));
  if (overhang > 0) found.push(`the page hangs over by ${overhang} px`);
  return found.map((problem) => `${path}: ${problem}`);
}

for (const width of WIDTHS) {
  for (const colorScheme of SCHEMES) {
    test(`every page at ${width} px, ${colorScheme}`, async () => {
      const one = await visitor(browser, server, { viewport: { width, height: 800 }, colorScheme });
      one.scheme = colorScheme;
      const found = await check(one, 'sign-in', '/sign-in');
      await one.signIn();
      for (const [name, path] of Object.entries(pages)) found.push(...(await check(one, name, path)));
      await one.go(pages['service-history']);
      const revert = await one.page.locator('main a[href^="/changes/"]').first().getAttribute('href');
      found.push(...(await check(one, 'revert', revert)));
      assert.deepEqual(found, []);
    });
  }
}

// Pages that people open most, with what the example company has: services that fail, lack an owner or miss standards.
const OF_THE_DEMO = {
  home: '/',
  services: '/services',
  service: '/services/cart',
  'service-none': '/services/fraud_score',
  'service-issues': '/services/ledger',
  'service-deploys': '/services/cart/deploys',
  'service-standards': '/services/ledger/standards',
  'service-graph': '/services/payments_api/graph',
  'service-graph-state': '/services/payments_api/graph?colour=state',
  deploys: '/deploys',
  delivery: '/delivery',
  'delivery-team': '/delivery?team=payments',
  standards: '/standards',
  teams: '/teams',
  team: '/teams/payments',
  systems: '/systems',
  system: '/systems/checkout',
  suggestions: '/suggestions',
  search: '/search?q=pay',
};

// What a new team sees first.
const OF_NOTHING = {
  home: '/',
  services: '/services',
  teams: '/teams',
  deploys: '/deploys',
  delivery: '/delivery',
  suggestions: '/suggestions',
  standards: '/standards',
  integrations: '/integrations',
};

for (const [kind, begin, list] of [['demo', startDemo, OF_THE_DEMO], ['empty', start, OF_NOTHING]]) {
  test(`the ${kind} catalogue, wide and light, narrow and dark`, async () => {
    const other = await begin();
    try {
      const found = [];
      for (const [at, width] of WIDTHS.entries()) {
        const one = await visitor(browser, other, { viewport: { width, height: 800 }, colorScheme: SCHEMES[at] });
        one.scheme = SCHEMES[at];
        await one.signIn();
        for (const [name, path] of Object.entries(list)) found.push(...(await check(one, `${kind}-${name}`, path)));
      }
      // Between a phone and a desk, lists that people read every day show all of their columns.
      for (const width of kind === 'demo' ? [768, 1024] : []) {
        const { page, go, signIn } = await visitor(browser, other, { viewport: { width, height: 800 } });
        await signIn();
        for (const path of ['/', '/services', '/services/cart', '/deploys', '/teams/payments', '/systems/checkout', '/audit']) {
          await go(path);
          found.push(...(await cut(page)).map((problem) => `${path} at ${width} px: ${problem}`));
        }
      }
      assert.deepEqual(found, []);
    } finally {
      await other.stop();
    }
  });
}

for (const width of WIDTHS) {
  test(`the first screen of a service at ${width} px shows what helps when something is wrong`, async () => {
    const { page, problems, go, signIn } = await visitor(browser, server, { viewport: { width, height: 800 } });
    await signIn();
    await go('/services/svc-1');
    for (const term of ['Owner', 'Contact', 'Links', 'Last deploy', 'Broken']) {
      const box = await page.locator('dt', { hasText: new RegExp(`^${term}$`) }).boundingBox();
      assert.ok(box && box.y + 2 * box.height < 800, `${term}: ${JSON.stringify(box)}`);
    }
    assert.deepEqual(problems, []);
  });
}

test('the navigation is one row, and on a phone a menu that needs no script', async () => {
  const options = { javaScriptEnabled: false, viewport: { width: 360, height: 800 } };
  const { page, go, signIn } = await visitor(browser, server, options);
  await signIn();
  const bar = await page.locator('header.bar').boundingBox();
  assert.ok(bar.height < 60, `one row: ${bar.height}`);
  const teams = page.getByRole('link', { name: 'Teams', exact: true });
  assert.equal(await teams.isVisible(), false);
  await page.getByRole('button', { name: 'Menu' }).focus();
  await page.keyboard.press('Enter');
  await teams.click();
  await page.waitForURL('**/teams');
  await page.setViewportSize({ width: 1280, height: 800 });
  await go('/teams');
  assert.equal(await page.getByRole('button', { name: 'Menu' }).isVisible(), false);
  for (const link of await page.locator('#rail li a').all()) {
    const { height } = await link.boundingBox();
    assert.ok(height < 40, `${await link.innerText()} wraps`);
  }
});

test('on a phone a picture begins at what it is about', async () => {
  const { page, go, signIn } = await visitor(browser, server, { viewport: { width: 360, height: 800 } });
  await signIn();
  await go('/services/svc-4/graph');
  const box = await page.locator('.graph .focus').boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
});

test('on a phone the headings of a list are a line of links that sort it', async () => {
  const { page, go, signIn } = await visitor(browser, server, { viewport: { width: 360, height: 800 } });
  await signIn();
  await go('/services?sort=name_DESC');
  const line = page.locator('table.lined thead tr').first();
  assert.equal(await line.evaluate((row) => getComputedStyle(row, '::before').content), '"Sort by:"');
  assert.equal(await line.locator('th[aria-sort=descending]').innerText(), 'Service ▼');
  for (const heading of await line.locator('th:visible').all()) assert.equal(await heading.locator('a').count(), 1);
});

test('a picture leads from service to service, and a dependency is added and deleted, from the keyboard', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server, { viewport: { width: 360, height: 800 } });
  const main = page.locator('main');
  await signIn();
  await go('/services/till/dependencies');
  const field = main.getByLabel('The other service (name or alias)');
  await field.fill('nobody');
  await page.keyboard.press('Enter');
  await main.getByText('No service is called "nobody".').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.deepEqual(await barriers(page), []);
  // The refusal has the status 422, which the browser reports.
  problems.splice(0);
  await field.fill('stock');
  await page.keyboard.press('Enter');
  await main.getByText('Depends on 1 service').waitFor();
  await go('/services/till/graph');
  await main.locator('svg a[href$="/stock/graph"]').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/services/stock/graph');
  await main.getByText('1 service within 2 steps').waitFor();
  await go('/services/till/dependencies');
  await main.locator('summary').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await main.getByText('This service depends on no other.').waitFor();
  assert.deepEqual(problems, []);
});

test('the reference is public, cross-linked and searched from the keyboard', async () => {
  const { page, problems, go } = await visitor(browser, server);
  await go('/reference');
  await page.keyboard.press('/');
  await page.keyboard.type('shopping');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/reference?q=shopping');
  await go('/reference?q=service.owner');
  await page.getByRole('link', { name: 'Service.owner', exact: true }).click();
  await page.waitForURL('**/reference/Service#owner');
  await page.locator('#owner').getByRole('link', { name: 'Team' }).click();
  await page.waitForURL('**/reference/Team');
  await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
  assert.deepEqual(problems, []);
});

test('Enter in the search opens the first result, a page of the navigation or the form of a service', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  // The result is opened however fast one types.
  for (const [words, address] of [['svc-7', '**/services/**'], ['Tokens', '**/tokens'], ['new serv', '**/new/service']]) {
    await go('/teams');
    await page.keyboard.press('/');
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await page.waitForURL(address);
  }
  await go('/teams');
  await page.keyboard.press('/');
  await page.keyboard.type('xyzzyq');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search?q=xyzzyq');
  assert.deepEqual(problems, []);
});

test('the focus is where one goes on: a new form, what is wrong in it, and what is copied', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  const focused = (what) =>
    page.waitForFunction((what) => [document.activeElement.id, document.activeElement.textContent].includes(what), what);
  await go('/new/service');
  await focused('field-name');
  await page.keyboard.type('Lost and found');
  await page.getByLabel('Owner (name or alias)').fill('nobody at all');
  await page.keyboard.press('Enter');
  await page.locator('.wrong').first().waitFor();
  assert.equal(await page.title(), 'Error: New service · rollcall');
  await focused('field-ownerInput.alias');
  // The refusal has the status 422, which the browser reports.
  problems.splice(0);

  await go('/tokens');
  const row = page.getByRole('row', { name: /pages/ });
  await row.locator('summary', { hasText: 'Rotate' }).click();
  await row.locator('form button', { hasText: 'Rotate' }).click();
  await page.locator('#secret').waitFor();
  await focused('Copy the token');
  assert.deepEqual(problems, []);
});

test('everything is searched from every page, by keys alone', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server, { viewport: { width: 360, height: 800 } });
  await signIn();
  for (const keys of ['/', 'Control+k']) {
    await go('/teams');
    await page.keyboard.press(keys);
    const dialog = page.getByRole('dialog', { name: 'Search' });
    // A slow machine searches for what is typed so far, too.
    const all = page.waitForResponse((response) => response.url().endsWith('q=svc-5'));
    await page.keyboard.type('svc-5');
    await all;
    const result = dialog.locator('.results a').first();
    await result.waitFor();
    assert.deepEqual(await barriers(page), []);
    await picture(page, `finder-360-light`);
    const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overhang <= 0, `the page hangs over by ${overhang} px`);
    await page.keyboard.press('Escape');
    assert.equal(await dialog.isVisible(), false);
    await page.keyboard.press(keys);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await result.evaluate((link) => link === document.activeElement), true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/services/**');
  }
  await go('/search');
  await page.keyboard.press('/');
  await page.keyboard.type('svc-5');
  await page.locator('main').getByRole('link').first().waitFor();
  assert.match(page.url(), /q=svc-5/);
  assert.deepEqual(problems, []);
});

test('the address of a filtered list names only what is asked for', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  await go('/audit');
  await page.getByLabel('Action, such as').fill('signIn');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/audit?action=signIn');
  await page.locator('main').getByText('signIn').first().waitFor();
  assert.deepEqual(problems, []);
});

test('a mistake in a filter moves no other field', async () => {
  const { page, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  await go('/audit?from=yesterday');
  const tops = await page.locator('main form.filters .field > :is(input, select)').evaluateAll((fields) =>
    fields.map((field) => Math.round(field.getBoundingClientRect().top)),
  );
  assert.equal(await page.locator('main form.filters .wrong').count(), 1);
  assert.equal(tops.length, 4);
  assert.equal(new Set(tops).size, 1, `one line: ${tops}`);
  // The refusal has the status 400, which the browser reports.
  problems.splice(0);
});

test('lists are searched while one types, and deleting asks first, from the keyboard', async () => {
  const { page, problems, context, go, signIn } = await visitor(browser, server);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const main = page.locator('main');
  await signIn();
  await go('/services');
  await main.getByRole('searchbox').focus();
  await page.keyboard.type('no-table-on-a');
  await main.getByText(/^1 service/).waitFor();
  assert.match(page.url(), /search=no-table-on-a/);
  await main.getByRole('link', { name: 'All services' }).click();
  await main.getByText(/^123 services/).waitFor();

  await go('/integrations');
  await main.getByRole('link', { name: 'Pages' }).click();
  const copy = main.getByRole('button', { name: 'Copy the URL' });
  await copy.focus();
  await page.keyboard.press('Enter');
  await main.getByRole('button', { name: 'Copied the URL' }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.locator('#address').innerText());

  await go('/new/team');
  await page.getByLabel('Name', { exact: true }).fill('Short Lived');
  await page.keyboard.press('Enter');
  await main.getByRole('link', { name: 'Edit' }).click();
  await main.locator('summary').focus();
  await page.keyboard.press('Enter');
  await picture(page, 'confirm-1280-light');
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  assert.equal(await main.locator('details[open]').count(), 0, 'Escape answers no');
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SUMMARY');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/teams?done=deleted');
  assert.equal(await main.getByText('Short Lived').count(), 0);
  assert.deepEqual(problems, []);
});
