// A separate server for a test: the built program over a database of its own, on a free port.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = process.env.ROLLCALL ?? new URL('../../target/debug/rollcall', import.meta.url).pathname;

// A server with an empty catalogue. `flags` are the server's flags.
export const start = (...flags) => serve(flags);

// A server with the example company of `rollcall demo`.
export const startDemo = (...flags) => serve(flags, 'demo');

// `first` is a command that runs before the server, if there is one.
async function serve(flags, ...first) {
  if (!existsSync(program)) throw new Error(`${program} is not there: run cargo build, or set ROLLCALL to the program`);
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-browser-'));
  const env = { ...process.env, DATABASE_URL: `sqlite://${folder}/rollcall.db`, ROLLCALL_LISTEN: '127.0.0.1:0' };
  if (first.length > 0) execFileSync(program, first, { env, stdio: 'pipe' });
  const child = spawn(program, flags, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const log = [];
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const found = line.match(/listens on ([0-9.:]+)/);
      if (found) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(`the server ended:\n${log.join('\n')}`)));
  });
  const origin = `http://${address}`;
  return {
    origin,
    // Runs a command beside the server and returns its output.
    run: (...words) =>
      execFileSync(program, words, { env: { ...env, ROLLCALL_LISTEN: address }, encoding: 'utf8' }).trim(),
    graphql: async (token, query, variables = {}) => {
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      const body = JSON.stringify({ query, variables });
      const answer = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.json() };
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
