// What jobs by keys rely on: what keys cannot do fails.
import assert from 'node:assert/strict';
import { after, before, beforeEach, afterEach, test } from 'node:test';
import { open } from './browser.mjs';
import { KEYS } from './hands.mjs';

let browser, page, hands, errors;
before(async () => (browser = await open()));
after(() => browser?.close());
beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(5_000);
  errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.setContent(`<style>:focus-visible { outline: 2px solid } .plain:focus { outline: none } .far { position: absolute; left: -200vw }</style>
    <a class="skip" href="#main">Skip</a> <a href="#rail">Rail</a>
    <main id="main" tabindex="-1">
      <form>
        <input aria-label="First">
        <label>Team <input list="teams" value="old"></label><datalist id="teams"><option>Payments<option>Orders</datalist>
        <label>Day <input type="date"></label>
        <select aria-label="Tier"><option value="">none<option value="tier_1">Tier 1<option value="tier_2">Tier 2</select>
        <label><input type="checkbox"> Box</label>
      </form>
      <details><summary>More</summary><button type="button">Inside</button></details>
      <span role="button">Not focusable</span>
      <button class="plain" type="button">Unmarked</button>
      <button class="far" type="button">Far</button>
    </main>`);
  hands = await KEYS.take(page);
});
afterEach(() => page.close());

test('keys fill in, choose, check and unfold, in any order', async () => {
  await hands.click(page.getByText('More'));
  await hands.click(page.getByRole('button', { name: 'Inside' }));
  await hands.choose(page.getByLabel('Tier'), 'tier_2');
  await hands.choose(page.getByLabel('Tier'), 'Tier 1');
  await hands.fill(page.getByLabel('Day'), '2030-01-02');
  await hands.fill(page.getByLabel('Team'), 'Payments');
  await hands.fill(page.getByLabel('First'), 'a, #b/c');
  await hands.fill(page.getByLabel('Day'), '2031-12-30');
  await hands.click(page.getByLabel('Box'));
  assert.equal(await page.getByLabel('Box').isChecked(), true);
  await hands.focus(page.getByRole('link', { name: 'Rail' }));
  assert.deepEqual(errors, []);
  assert.ok(hands.used() > 60, `${hands.used()} keys`);
});

test('a key that leads to another page, or to a file, is followed there, while a clock stands still, too', async () => {
  const html = { 'Content-Type': 'text/html' };
  const answers = {
    '/': { headers: html, body: '<a class="skip" href="#main">Skip</a><main id="main" tabindex="-1"><a href="/form">Form</a></main>' },
    '/form': { headers: html, body: '<form method="post" action="/done"><button>Send</button></form>' },
    '/done': { headers: html, body: '<a href="/file">File</a>' },
    '/file': { headers: { 'Content-Disposition': 'attachment; filename=list.csv' }, body: 'name' },
  };
  await page.route('http://rollcall.test/**', (route) => route.fulfill(answers[new URL(route.request().url()).pathname]));
  await page.clock.install();
  await page.goto('http://rollcall.test/');
  const follow = async (locator, path) => {
    await hands.click(locator);
    assert.equal(new URL(page.url()).pathname, path);
  };
  await follow(page.getByRole('link', { name: 'Form' }), '/form');
  await follow(page.getByRole('button', { name: 'Send' }), '/done');
  const begun = page.waitForEvent('download');
  await follow(page.getByRole('link', { name: 'File' }), '/done');
  assert.equal((await begun).suggestedFilename(), 'list.csv');
});

test('what has no focus, or none that is seen, is out of reach', async () => {
  await assert.rejects(hands.click(page.getByText('Not focusable')), /was not reached/);
  await assert.rejects(hands.click(page.getByText('Unmarked')), /nothing marks it/);
  await assert.rejects(hands.click(page.getByText('Far')), /out of sight/);
  await assert.rejects(hands.choose(page.getByLabel('Tier'), 'tier_9'), /has no tier_9/);
});

test('a pointer, and what fills in for keys, is noticed', async () => {
  await page.getByText('More').click();
  await page.getByLabel('First').fill('a');
  await page.getByLabel('Tier').selectOption('tier_1');
  assert.deepEqual(errors, ['the job used a pointer', 'the job filled in a field without keys', 'the job chose without keys']);
});
