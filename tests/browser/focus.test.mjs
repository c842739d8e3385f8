// The focus stays where it is when what is around it is loaded again, and nothing covers it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open, visitor } from './browser.mjs';
import { start } from './server.mjs';

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([start(), open()]);
  // The first user is an administrator.
  server.run('sign-in-link', '--email', 'ada@example.com');
  const token = server.run('token', 'create', '--description', 'focus');
  const names = ['Cart', 'Ledger', ...Array.from({ length: 40 }, (_, at) => `Other ${at}`)];
  const create = names.map((name, at) => `s${at}: serviceCreate(input: { name: "${name}" }) { errors { message } }`);
  const { body } = await server.graphql(token, `mutation { ${create.join(' ')} }`);
  assert.equal(body.errors, undefined, JSON.stringify(body));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const hasFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

// Keeps the answer about `value` back. Returns what waits until it is asked for, and what lets it through.
async function hold(page, parameter, value) {
  const isIt = (url) => url.searchParams.get(parameter) === value;
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(isIt, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => isIt(new URL(request.url())));
  return { asked, release };
}

for (const [focused, next] of [['Cart', 'link'], ['Ledger', 'searchbox']]) {
  test(`a list that is searched keeps the focus on ${focused}, or gives it back to the field`, async () => {
    const { page, context, problems, go, signIn } = await visitor(browser, server);
    const main = page.locator('main');
    await signIn();
    await go('/services');
    const { asked, release } = await hold(page, 'search', 'cart');
    await main.getByRole('searchbox').fill('cart');
    await asked;
    await main.getByRole('link', { name: focused, exact: true }).focus();
    release();
    await main.getByText(/^1 service/).waitFor();
    const [link, searchbox] = [main.getByRole('link', { name: focused, exact: true }), main.getByRole('searchbox')];
    assert.equal(await hasFocus(next === 'link' ? link : searchbox), true);
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test('results that come late leave the focus on the one that is chosen', async () => {
  const { page, context, problems, signIn } = await visitor(browser, server);
  await signIn();
  await page.keyboard.press('/');
  const dialog = page.getByRole('dialog', { name: 'Search' });
  const cart = dialog.getByRole('link', { name: /^Cart/ }).first();
  await page.keyboard.type('car');
  await cart.waitFor();
  const { asked, release } = await hold(page, 'q', 'cart');
  await page.keyboard.type('t');
  await asked;
  await page.keyboard.press('ArrowDown');
  assert.equal(await hasFocus(cart), true);
  await cart.evaluate((link) => link.setAttribute('data-old', ''));
  release();
  await dialog.locator('[data-old]').waitFor({ state: 'detached' });
  assert.equal(await hasFocus(cart), true);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/services/cart');
  assert.deepEqual(problems, []);
  await context.close();
});

test('a star has the focus again, and is not out of sight', async () => {
  const { page, context, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  await go('/services');
  for (const does of ['Add to favourites: Other 7', 'Remove from favourites: Other 7']) {
    await page.getByRole('button', { name: does, exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: does, exact: true }).waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement.id === 'star-other_7');
    const { top, bottom, height } = await page.evaluate(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      return { top, bottom, height: innerHeight };
    });
    assert.ok(top > 0 && bottom < height, `${top} to ${bottom} of ${height}`);
  }
  assert.deepEqual(problems, []);
  await context.close();
});

test('one box selects all services of the page, by keys, and is of the list that a search leaves', async () => {
  const { page, context, problems, go, signIn } = await visitor(browser, server);
  await signIn();
  await go('/services');
  const rows = page.getByRole('checkbox', { name: /^Select (Cart|Ledger|Other)/ });
  const selected = () => rows.evaluateAll((boxes) => boxes.filter((box) => box.checked).length);
  const all = page.getByRole('checkbox', { name: 'Select all 42 on this page', exact: true });
  await all.focus();
  await page.keyboard.press('Space');
  assert.equal(await selected(), 42);
  await page.getByRole('checkbox', { name: 'Select Cart', exact: true }).focus();
  await page.keyboard.press('Space');
  assert.deepEqual(await all.evaluate(({ checked, indeterminate }) => [checked, indeterminate]), [false, true]);
  await all.focus();
  await page.keyboard.press('Space');
  assert.equal(await selected(), 42, 'a box that is neither selects');
  await page.keyboard.press('Space');
  assert.equal(await selected(), 0);
  await page.keyboard.press('Space');
  // Only what the boxes of the rows say is sent.
  const names = () => page.locator('form[data-select]').evaluate((form) => [...new Set(new FormData(form).keys())]);
  assert.ok(!(await names()).includes(''), 'the box has no name');
  await page.locator('main').getByRole('searchbox').fill('other');
  await page.locator('main').getByText(/^40 services/).waitFor();
  await page.getByRole('checkbox', { name: 'Select all 40 on this page', exact: true }).press('Space');
  assert.equal(await selected(), 40);
  assert.equal(await page.getByRole('checkbox', { name: /^Select all/ }).count(), 1);
  // One row needs none.
  await page.locator('main').getByRole('searchbox').fill('cart');
  await page.locator('main').getByText(/^1 service/).waitFor();
  assert.equal(await page.getByRole('checkbox', { name: /^Select all/ }).count(), 0);
  assert.deepEqual(problems, []);
  await context.close();
});

test('without the script, no box promises to select all services', async () => {
  const { page, context, go, signIn } = await visitor(browser, server, { javaScriptEnabled: false });
  await signIn();
  await go('/services');
  assert.equal(await page.getByRole('checkbox', { name: 'Select Cart', exact: true }).count(), 1);
  assert.equal(await page.getByRole('checkbox', { name: /^Select all/ }).count(), 0);
  await context.close();
});

// What stays in sight while the page is scrolled.
const STAYS = '.bar, .bulk, .save, .asks';

for (const [width, paths] of [
  [360, ['/', '/teams', '/services/cart', '/services', '/definitions', '/new/service']],
  [1280, ['/services', '/new/service']],
]) {
  test(`nothing covers the focus at ${width} px, whichever way one goes`, async () => {
    const { page, context, problems, go, signIn } = await visitor(browser, server, { viewport: { width, height: 800 } });
    await signIn();
    const covered = () =>
      page.evaluate((stays) => {
        const active = document.activeElement;
        const { left, top, width, height } = active.getBoundingClientRect();
        // Nobody sees all of a long table.
        if (active === document.body || height > innerHeight / 2) return '';
        // The browser shows the line with the caret of a text of several lines: here, the first.
        const middle = active.localName === 'textarea' ? 16 : height / 2;
        const front = document.elementFromPoint(left + width / 2, top + middle)?.closest(stays);
        return front && !front.contains(active) ? active.outerHTML : '';
      }, STAYS);
    for (const path of paths) {
      await go(path);
      if (path === '/services') await page.locator('.bulk > summary').click();
      for (const key of ['Shift+Tab', 'Tab']) {
        const ends = page.locator('main :is(a, button, summary, input:not([type=hidden]))').filter({ visible: true });
        await (key === 'Tab' ? ends.first() : ends.last()).focus();
        for (let steps = 0; steps < 60; steps += 1) {
          await page.keyboard.press(key);
          assert.equal(await covered(), '', `${path}, ${key} ${steps}`);
        }
      }
    }
    assert.deepEqual(problems, []);
    await context.close();
  });
}
