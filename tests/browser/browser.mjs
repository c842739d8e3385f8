// Chromium as people use it. Collects everything that goes wrong in a page.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
// No background traffic; as root it has no sandbox.
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'];
const args = process.getuid?.() === 0 ? [...quiet, '--no-sandbox'] : quiet;

export const open = () => chromium.launch({ executablePath, args });

// A visitor with a separate browser profile. `problems` collects errors that no page may cause. A test that causes one
// on purpose removes it from the list.
export async function visitor(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const problems = [];
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (origin !== server.origin && !['data:', 'blob:'].includes(protocol)) problems.push(`asked ${request.url()}`);
  });
  context.on('weberror', (error) => problems.push(`script error: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`);
    });
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  return {
    context,
    page,
    problems,
    go: (path) => page.goto(server.origin + path),
    // With a link from the command line.
    signIn: async (email = 'ada@example.com') => {
      await page.goto(server.run('sign-in-link', '--email', email));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL((url) => url.pathname === '/');
    },
  };
}

// GraphiQL's own problem, which no style can fix: a tab of its editor contains its close button.
const KNOWN = { 'nested-interactive': '.graphiql-tab' };

// What axe thinks less of, and no page has: content outside of landmarks, and pages without one heading or main part.
const KEPT = ['region', 'page-has-heading-one', 'landmark-one-main', 'landmark-no-duplicate-main', 'landmark-no-duplicate-banner'];

// axe's serious findings, and those that are kept, in words.
export async function barriers(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const serious = violations.filter(({ id, impact, nodes }) => {
    const isKnown = nodes.every(({ target }) => target.join(' ') === KNOWN[id]);
    return (['serious', 'critical'].includes(impact) || KEPT.includes(id)) && !isKnown;
  });
  return serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

// Takes a screenshot of the page, if SCREENSHOTS names a folder.
export async function picture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
