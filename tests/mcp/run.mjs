// Uses `/mcp` of a running server as agents do: `npm ci && node run.mjs http://127.0.0.1:8080 TOKEN`.
// First the official client calls every tool and prompt. Then the official conformance suite runs those of its scenarios
// that need no tools of its own; it sends no token, so a proxy in this process adds it. Exits with 1 on the first fault.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [server, token] = process.argv.slice(2);
if (!server || !token) {
  console.error('usage: node run.mjs URL TOKEN');
  process.exit(2);
}
const authorization = `Bearer ${token}`;

const client = new Client({ name: 'rollcall-test', version: '1.0.0' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${server}/mcp`), { requestInit: { headers: { authorization } } }),
);
assert.equal(client.getServerVersion()?.name, 'rollcall');
await client.ping();
const { tools } = await client.listTools();
const text = async (name, given) => {
  const result = await client.callTool({ name, arguments: given });
  assert.equal(result.content[0].type, 'text', name);
  return [result.isError ?? false, result.content[0].text];
};
const calls = {
  find: { text: 'cart' },
  describe_service: { service: 'no such service' },
  describe_team: { team: 'no such team' },
  list_deploys: { hours: 24 },
  impact: { service: 'no such service' },
  delivery: {},
  history: { name: 'no such service' },
  what_is_missing: {},
  who_owns: { repository: 'github.com:no/such' },
  search_schema: { words: 'deploys environment' },
  query: { document: '{ account { tiers { name } } }' },
};
const fails = ['describe_service', 'describe_team', 'history', 'impact', 'who_owns'];
assert.deepEqual(tools.map((tool) => tool.name).sort(), Object.keys(calls).sort());
for (const [name, given] of Object.entries(calls)) {
  const [isError, answer] = await text(name, given);
  assert.equal(isError, fails.includes(name), `${name}: ${answer}`);
  assert.ok(answer.length > 0, name);
}
const { prompts } = await client.listPrompts();
for (const { name, arguments: asked } of prompts) {
  const given = Object.fromEntries(asked.map((one) => [one.name, 'Payments']));
  const { messages } = await client.getPrompt({ name, arguments: given });
  assert.ok(messages[0].content.text.includes('Payments'), name);
}
await client.close();
console.log(`ok: ${tools.length} tools and ${prompts.length} prompts by the official client`);

const proxy = http.createServer((request, response) => {
  const { method, url, headers } = request;
  const onward = http.request(`${server}${url}`, { method, headers: { ...headers, authorization } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});
await new Promise((listening) => proxy.listen(0, '127.0.0.1', listening));
const address = `http://127.0.0.1:${proxy.address().port}/mcp`;
for (const scenario of ['server-initialize', 'ping', 'tools-list', 'prompts-list']) {
  const run = spawn('node_modules/.bin/node', ['node_modules/.bin/conformance', 'server', '--url', address, '--scenario', scenario]);
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (piece) => (said += piece));
  const status = await new Promise((ended) => run.on('close', ended));
  if (status !== 0) {
    console.error(`failed: ${scenario}\n${said}`);
    process.exit(1);
  }
  console.log(`ok: ${scenario} of the conformance suite`);
}
proxy.close();
