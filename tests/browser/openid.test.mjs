// Signing in at a real OpenID provider, in a real browser: cookies, redirects between sites and the policy of the pages.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import Provider from 'oidc-provider';
import { barriers, open, picture, visitor } from './browser.mjs';
import { start } from './server.mjs';

const client = { client_id: 'rollcall', client_secret: 'a secret of the two', redirect_uris: [] };

// A provider that believes everyone. Its site differs from the server's: `localhost`.
async function startProvider() {
  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  const listener = createServer(async (request, response) => (await begun)(request, response));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const issuer = `http://localhost:${listener.address().port}`;
  return {
    issuer,
    // The client's redirect URL is known only once the server runs.
    knows: (origin) => {
      const provider = new Provider(issuer, {
        clients: [{ ...client, redirect_uris: [`${origin}/sign-in/openid/callback`] }],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        findAccount: (_, sub) => ({
          accountId: sub,
          claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, name: `${sub} of Example` }),
        }),
      });
      begin(provider.callback());
    },
    stop: () => (listener.closeAllConnections(), listener.close()),
  };
}

// The provider's pages are on another site, and request a font from a third one.
const isTheirs = (problem) => [provider.issuer, 'https://fonts.googleapis.com/'].some((site) => problem.includes(site));

let provider, server, browser;
before(async () => {
  provider = await startProvider();
  const flags = { issuer: provider.issuer, 'client-id': client.client_id, 'client-secret': client.client_secret };
  const said = { ...flags, name: 'Example', domains: 'example.com' };
  server = await start(...Object.entries(said).flatMap(([name, value]) => [`--oidc-${name}`, value]));
  provider.knows(server.origin);
  browser = await open();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  provider?.stop();
});

test('a person signs in at the provider and comes back to the page they wanted', async () => {
  const { page, problems, go } = await visitor(browser, server);
  await go('/teams?wanted=this');
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'openid-1-sign-in');
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByPlaceholder(/login/i).fill('grace');
  await page.getByPlaceholder(/password/i).fill('any');
  await page.getByRole('button', { name: /sign-in/i }).click();
  await page.getByRole('button', { name: /continue/i }).click();
  await page.waitForURL('**/teams?wanted=this');
  await go('/account');
  await page.getByText('grace of Example').first().waitFor();
  await page.getByText('grace@example.com').first().waitFor();
  await picture(page, 'openid-2-account');

  // Sign out, and in again without a prompt: the session at the provider still exists.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  assert.deepEqual(problems.filter((problem) => !isTheirs(problem)), []);
});

test('a person who changes their mind is told so, and can begin again', async () => {
  const { page, go } = await visitor(browser, server);
  await go('/sign-in');
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByRole('link', { name: /cancel/i }).click();
  await page.getByText(/access_denied/).waitFor();
  assert.deepEqual(await barriers(page), []);
  await picture(page, 'openid-3-refused');
  await page.getByRole('link', { name: 'Back to sign-in' }).click();
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
});
