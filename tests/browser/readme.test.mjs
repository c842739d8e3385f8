// The picture in README: the page of a service of the example company that `rollcall demo` makes, so that everybody can open
// what it shows. The test checks that the page shows what README says of it. `npm run picture` also writes the picture.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { open, visitor } from './browser.mjs';
import { startDemo } from './server.mjs';

const FILE = new URL('../../docs/service.png', import.meta.url).pathname;

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([startDemo(), open()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

// What README says of the picture, and the words that show it.
const SHOWN = [
  ['owner', 'led by Lena Fischer'],
  ['on call', 'payments primary'],
  ['contact', '#payments-api'],
  ['links', 'Runbook'],
  ['tier', 'Mission Critical'],
  ['tags', 'env: production'],
  ['repositories', 'example/payments-api'],
  ['DORA metrics of 12 weeks', 'Delivery to production, 12 weeks'],
  ['DORA metrics', 'Failure rate'],
];

test('the page of a service shows what the picture in README shows', async () => {
  const user = await visitor(browser, server, { viewport: { width: 1280, height: 1372 }, colorScheme: 'light' });
  // Somebody of the company, who becomes its administrator.
  await user.signIn('maya@example.com');
  await user.go('/services/payments_api');
  const main = user.page.getByRole('main');
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, words] = readme.match(/!\[([^\]]*)\]\(docs\/service\.png\)/);
  for (const [said, shown] of SHOWN) {
    assert.ok(words.includes(said), `${words}: nothing of ${said}`);
    await main.getByText(shown).first().waitFor();
  }
  assert.ok(words.includes('a picture of its dependencies'), words);
  await main.locator('svg a[href$="/services/ledger"]').waitFor();
  await main.getByRole('heading', { name: 'Depends on 3 services' }).waitFor();
  assert.deepEqual(user.problems, []);
  if (process.env.PICTURE) await user.page.screenshot({ path: FILE });
});
