// Audits a running server by graphql-http's rules for GraphQL over HTTP: `node audit.mjs URL TOKEN`.
// Prints a line for each rule. Exits with 1 if the server violates a MUST or a SHOULD.
import { serverAudits } from 'graphql-http';

const [url, token] = process.argv.slice(2);
if (!url || !token) {
  console.error('usage: node audit.mjs URL TOKEN');
  process.exit(2);
}
const fetchFn = (input, init = {}) =>
  fetch(input, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } });

const counts = { ok: 0, notice: 0, warn: 0, error: 0 };
for (const audit of serverAudits({ url, fetchFn })) {
  const result = await audit.fn();
  counts[result.status] += 1;
  if (result.status !== 'ok') console.log(`${result.status}: ${result.name}: ${result.reason}`);
}
console.log(`${counts.ok} ok, ${counts.notice} notices, ${counts.warn} warnings, ${counts.error} errors`);
process.exit(counts.warn + counts.error > 0 ? 1 : 0);
