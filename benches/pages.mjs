// Measures how long each page takes, on a release build over a large catalogue:
//   node benches/pages.mjs [--services 10000] [--deploys 1000000] [--program target/release/rollcall]
// Each page is requested 200 times in sequence, then by 8 clients at once. Prints the median, the 99th percentile and
// the page's size. Fails if a median is above 20 ms or a page is larger than 100 KB.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '10000' },
    deploys: { type: 'string', default: '1000000' },
    program: { type: 'string', default: new URL('../target/release/rollcall', import.meta.url).pathname },
  },
});
const MOST_MILLISECONDS = 20;
const MOST_BYTES = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'rollcall-pages-'));
const env = {
  ...process.env,
  DATABASE_URL: `sqlite://${folder}/rollcall.db`,
  ROLLCALL_LISTEN: '127.0.0.1:0',
  ROLLCALL_IP_LIMIT: '0',
  ROLLCALL_LOG: 'warn',
};
const run = (...words) =>
  execFileSync(values.program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
run('migrate');
const link = run('sign-in-link', '--email', 'ada@example.com');
run('generate', '--services', values.services, '--deploys', values.deploys);
run('deploy-endpoint', 'create', '--name', 'bench');
run('token', 'create', '--description', 'bench');

const server = spawn(values.program, [], { env, stdio: ['ignore', 'ignore', 'pipe'] });
let failed = false;
try {
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      const found = line.match(/listens on ([0-9.:]+)/);
      if (found) resolve(found[1]);
    });
    server.once('exit', () => reject(new Error('the server ended')));
  });
  const origin = `http://${address}`;
  const signedIn = await fetch(origin + new URL(link).pathname, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin },
  });
  const cookie = signedIn.headers.get('set-cookie').split(';')[0];

  const get = async (path) => {
    const begin = performance.now();
    const answer = await fetch(origin + path, { headers: { cookie, 'Accept-Encoding': 'identity' }, redirect: 'manual' });
    const bytes = (await answer.arrayBuffer()).byteLength;
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    return { bytes, time: performance.now() - begin };
  };
  const text = async (path) => (await fetch(origin + path, { headers: { cookie } })).text();
  const second = (await text('/services')).match(/href="(\/services\?[^"]*after=[^"]*)"/)[1].replaceAll('&amp;', '&');
  const pages = [
    '/services',
    second,
    '/services?search=ledger',
    '/services?search=svc-9999',
    '/services?search=nothing+is+called+so',
    '/services?tag=env%3Aenv-7',
    '/services?owner=team-1&tier=tier_1&language=Rust',
    '/services?unowned=1',
    '/services?quiet=30',
    '/services/svc-1',
    '/services/svc-1/deploys',
    '/services/svc-1/edit',
    `/services/svc-${Math.ceil(Number(values.services) / 2)}`,
    '/new/service',
    '/teams',
    '/teams/team-1',
    '/teams/team-1/edit',
    '/suggestions',
    '/integrations',
    (await text('/integrations')).match(/href="(\/integrations\/[^"?]{8,})"/)[1],
    '/tokens',
    '/users',
    '/audit',
    '/account',
    '/explorer',
    '/reference',
    '/reference/Account',
    '/reference?q=deploy',
  ];
  const quantile = (times, part) => times.sort((a, b) => a - b)[Math.floor(times.length * part)].toFixed(1);
  console.log('  alone 50 %  alone 99 %  8 at once 50 %  bytes  page');
  for (const path of pages) {
    await get(path);
    const alone = [];
    let bytes;
    for (let i = 0; i < 200; i++) {
      const one = await get(path);
      alone.push(one.time);
      ({ bytes } = one);
    }
    const together = [];
    const worker = async () => {
      for (let i = 0; i < 25; i++) together.push((await get(path)).time);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    const median = quantile(alone, 0.5);
    const bad = Number(median) > MOST_MILLISECONDS || bytes > MOST_BYTES;
    failed ||= bad;
    const figures = [median, quantile(alone, 0.99), quantile(together, 0.5)].map((it) => it.padStart(10)).join('  ');
    console.log(`${bad ? '!' : ' '} ${figures}  ${String(bytes).padStart(11)}  ${path}`);
  }
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
