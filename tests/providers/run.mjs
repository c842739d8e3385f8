// Signs in on the built program at three OpenID providers that answer as real ones do: `node run.mjs [PROGRAM]`. Prints
// a line for each provider, and exits with 1 at the first that fails. Needs Node.js and the program, which is that of
// `cargo build` unless it is named. shapes.mjs has the answers and the odd claims, and this file the hostile tokens,
// which must not sign in.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { client, startProvider } from './provider.mjs';
import { odd, shapes } from './shapes.mjs';

const program = process.argv[2] ?? new URL('../../target/debug/rollcall', import.meta.url).pathname;
const BEGIN = '/sign-in/openid';

function check(is, what) {
  if (!is) throw new Error(what);
}

// What may not sign in: its name, what the tokens say, and the words with which the log names the cause.
const past = Math.floor(Date.now() / 1000) - 3600;
const hostile = [
  ['is for others', { claims: { aud: ['somebody', 'else'] }, without: ['azp'] }, 'does not name the client id'],
  ['is for several parties', { claims: { aud: [client.id, 'else'] }, without: ['azp'] }, 'no claim azp'],
  ['was issued to another client', { claims: { aud: [client.id, 'else'], azp: 'else' } }, 'the claim azp is else'],
  ['has no audience', { without: ['aud', 'azp'] }, 'does not name the client id'],
  ['has an azp that is a list', { claims: { azp: [client.id] } }, 'the claim azp is not a text'],
  ['has expired', { claims: { exp: past } }, 'has expired (exp)'],
  ['never expires', { without: ['exp'] }, 'no number in the claim exp'],
  ['expires in words', { claims: { exp: 'never' } }, 'no number in the claim exp'],
  ['is of tomorrow', { claims: { nbf: past + 86_400 } }, 'not valid yet (nbf)'],
  ['has the nonce of another sign-in', { claims: { nonce: 'another' } }, 'the claim nonce'],
  ['has no nonce', { without: ['nonce'] }, 'nonce'],
  ['is not signed', { head: { alg: 'none' }, signer: 'none' }, 'signed with none'],
  ['is signed with the public key as a secret', { head: { alg: 'HS256' }, signer: 'HS256' }, 'signed with HS256'],
  ['is signed by another issuer', { head: { kid: 'theirs' }, signer: 'foreign' }, 'no key of the provider'],
  ['is signed by another issuer under our key id', { signer: 'foreign' }, 'signature is not valid'],
  ['brings its own key', { head: { kid: undefined, jwk: {} }, signer: 'foreign' }, 'signature is not valid'],
  ['is of another issuer', { claims: { iss: 'https://login.example.org' } }, 'the claim iss'],
  ['is of an issuer that is almost ours', { claims: (issuer) => ({ iss: `${issuer}?` }) }, 'the claim iss'],
  ['is about nobody', { claims: { sub: '' } }, 'a sub that is not a text'],
  ['demands an extension', { head: { crit: ['b64'], b64: false } }, 'crit'],
];

// The program with the provider's settings, over an empty database.
async function startProgram(provider, shape) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-providers-'));
  const env = { ...process.env, DATABASE_URL: `sqlite://${folder}/rollcall.db`, ROLLCALL_LISTEN: '127.0.0.1:0' };
  const settings = { issuer: provider.issuer, 'client-id': client.id, name: shape.name, domains: 'example.com' };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--oidc-${name}`, value]);
  // As a variable that `echo` made.
  const child = spawn(program, ['serve', ...flags, ...shape.flags], {
    env: { ...env, ROLLCALL_OIDC_CLIENT_SECRET: `${client.secret}\n` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = [];
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const found = line.match(/listens on ([0-9.:]+)/);
      if (found) resolve(found[1]);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the server ended:\n${log.join('\n')}`)));
  });
  const stop = async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  };
  const token = execFileSync(program, ['token', 'create', '--description', 'providers'], { env, encoding: 'utf8' });
  // How many users there are.
  const users = async () => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token.trim()}` };
    const body = JSON.stringify({ query: '{ account { users { totalCount } } }' });
    const answer = await fetch(`http://${address}/graphql`, { method: 'POST', headers, body });
    return (await answer.json()).data.account.users.totalCount;
  };
  return { origin: `http://${address}`, log, users, stop };
}

// A browser of its own, which keeps cookies and follows redirects one at a time.
class Browser {
  cookies = new Map();

  constructor(origin) {
    this.origin = origin;
  }

  async get(url) {
    const isOurs = url.startsWith(this.origin);
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { Accept: 'text/html', ...(isOurs && cookie && { Cookie: cookie }) };
    const answer = await fetch(url, { redirect: 'manual', headers });
    for (const line of isOurs ? answer.headers.getSetCookie() : []) {
      const [name, value] = line.split(';')[0].split(/=(.*)/);
      if (value) this.cookies.set(name, value);
      else this.cookies.delete(name);
    }
    const location = answer.headers.get('location');
    return { status: answer.status, text: await answer.text(), location: location && new URL(location, url).href };
  }

  // The whole way, from the button to the callback.
  async signIn() {
    const begun = await this.get(this.origin + BEGIN);
    check(begun.status === 303, `the way to the provider answers ${begun.status}: ${begun.text}`);
    const agreed = await this.get(begun.location);
    check(agreed.status === 302, `the provider answers ${agreed.status}`);
    return this.get(agreed.location);
  }

  get isSignedIn() {
    return [...this.cookies.keys()].some((name) => name.endsWith('rollcall_session'));
  }
}

async function assertSignedIn(server, what, email = 'ada@example.com') {
  const browser = new Browser(server.origin);
  const back = await browser.signIn();
  const said = `${back.text.replace(/<[^>]*>/g, ' ').slice(-400)}\n${server.log.slice(-2).join('\n')}`;
  check(back.status === 303 && browser.isSignedIn, `${what}: the callback answers ${back.status}: ${said}`);
  const home = await browser.get(`${server.origin}/`);
  check(home.status === 200, `${what}: the home page answers ${home.status}`);
  const account = await browser.get(`${server.origin}/account`);
  check(account.text.includes(email) && account.text.includes('Ada Lovelace'), `${what}: not as ${email}`);
}

async function assertRefused(server, what, cause) {
  const browser = new Browser(server.origin);
  const before = server.log.length;
  const back = await browser.signIn();
  check(back.status >= 400 && !browser.isSignedIn, `a token that ${what} signs in: ${back.status}`);
  const home = await browser.get(`${server.origin}/`);
  check(home.status === 303 && home.location.includes('/sign-in'), `a token that ${what} shows a page`);
  const written = () => server.log.slice(before).join('\n');
  // The log comes by another way than the answer.
  for (let waited = 0; waited < 100 && !written().includes(cause); waited += 1) await setTimeout(20);
  const said = written();
  check(said.includes(cause), `a token that ${what}: the log does not say "${cause}", but: ${said}`);
}

async function assertAllRefused(provider, server) {
  for (const [what, says, cause] of hostile) {
    const claims = typeof says.claims === 'function' ? says.claims(provider.issuer) : says.claims;
    provider.says = { ...says, claims };
    await assertRefused(server, what, cause);
  }
  provider.says = {};
}

async function walk(shape) {
  const provider = await startProvider(shape);
  const server = await startProgram(provider, shape).catch((error) => (provider.stop(), Promise.reject(error)));
  try {
    provider.redirect = `${server.origin}${BEGIN}/callback`;
    await assertAllRefused(provider, server);
    check((await server.users()) === 0, 'a token that is refused makes a user');
    await assertSignedIn(server, 'the plain sign-in');
    for (const [at, [what, claims]] of odd.entries()) {
      // A person who has never signed in, so that all of the answer counts.
      const [sub, email] = [`person ${at}`, `person.${at}@example.com`];
      const isInToken = 'email' in shape.claims(client.id);
      provider.says = { claims: { ...claims, sub, ...(isInToken && { email }) }, userInfo: { ...claims, sub, email } };
      await assertSignedIn(server, what, email);
    }
    await assertAllRefused(provider, server);
    check((await server.users()) === 1 + odd.length, 'the users are not the people who signed in');
    check(provider.problems.length === 0, provider.problems.join('\n'));
    return `signed in, with ${odd.length} odd answers too; refused ${hostile.length} hostile tokens, before and after`;
  } finally {
    await server.stop();
    provider.stop();
  }
}

for (const shape of shapes) {
  try {
    console.log(`ok: ${shape.name}: ${await walk(shape)}`);
  } catch (error) {
    console.log(`failed: ${shape.name}: ${error.message}`);
    process.exit(1);
  }
}
