// Plays an OpenID provider on 127.0.0.1 in one of the shapes, and is as strict about its client as a real one.
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

export const client = { id: '281774826938466307@rollcall', secret: 'it’s a secret: 100% of it' };

const base64 = (text) => Buffer.from(text).toString('base64url');
const pair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = ({ publicKey }) => publicKey.export({ format: 'jwk' });
const pem = ({ publicKey }) => publicKey.export({ format: 'pem', type: 'spki' });
const encoded = (text) => new URLSearchParams({ '': text }).toString().slice(1);

// How a token is signed: by the provider's own key unless the test says otherwise.
const signers = {
  RS256: (keys, text) => sign('RSA-SHA256', text, keys.own.privateKey),
  none: () => Buffer.alloc(0),
  // With what everybody knows as the secret.
  HS256: ({ own }, text) => createHmac('sha256', pem(own)).update(text).digest(),
  foreign: (keys, text) => sign('RSA-SHA256', text, keys.foreign.privateKey),
};

// `says` is how the next answers differ: { claims, without, head, signer, userInfo }, where `without` lists claims to
// leave out.
export async function startProvider(shape) {
  const keys = { own: pair(), foreign: pair(), further: pair() };
  const codes = new Map();
  const provider = { says: {}, problems: [] };
  const listener = createServer((request, response) => {
    const body = [];
    request.on('data', (part) => body.push(part)).on('end', () => {
      try {
        answer(request, Buffer.concat(body).toString(), response);
      } catch (error) {
        provider.problems.push(error.stack);
        response.writeHead(500).end();
      }
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const origin = `http://127.0.0.1:${listener.address().port}`;
  const issuer = origin + shape.path;
  const documented = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

  function answer(request, body, response) {
    const url = new URL(request.url, origin);
    const json = (value, status = 200) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      response.end(JSON.stringify(value, null, 2));
    };
    const { pathname: path } = url;
    if (url.href === documented) return json(metadata());
    if (path === shape.at.keys) {
      const own = { ...jwk(keys.own), kid: shape.keyId, use: 'sig', alg: 'RS256', ...shape.key };
      return json({ keys: [...shape.furtherKeys(jwk(keys.further)), own] });
    }
    if (path === shape.at.authorize) return authorize(url.searchParams, response);
    if (path === shape.at.token && request.method === 'POST') {
      return token(request.headers, new URLSearchParams(body), json);
    }
    if (path === shape.at.userInfo && request.headers.authorization === 'Bearer the access') {
      return json({ sub: shape.claims(client.id).sub, ...shape.userInfo, ...provider.says.userInfo });
    }
    return json({ error: 'not found' }, 404);
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: origin + shape.at.authorize,
    token_endpoint: origin + shape.at.token,
    userinfo_endpoint: origin + shape.at.userInfo,
    jwks_uri: origin + shape.at.keys,
    ...shape.metadata(issuer),
  });

  function authorize(asked, response) {
    const isRight =
      asked.get('response_type') === 'code' &&
      asked.get('client_id') === client.id &&
      asked.get('redirect_uri') === provider.redirect &&
      asked.get('code_challenge_method') === 'S256' &&
      ['openid', 'email', 'profile'].every((scope) => asked.get('scope').split(' ').includes(scope));
    if (!isRight) throw new Error(`a request for a code that is not right: ${asked}`);
    const code = randomBytes(24).toString('base64');
    codes.set(code, asked);
    const back = new URL(asked.get('redirect_uri'));
    const further = { state: asked.get('state'), session_state: '7b0c', iss: issuer };
    for (const [name, value] of Object.entries({ code, ...further })) back.searchParams.set(name, value);
    response.writeHead(302, { Location: back.href }).end();
  }

  function token(headers, sent, json) {
    const basic = `Basic ${Buffer.from(`${encoded(client.id)}:${encoded(client.secret)}`).toString('base64')}`;
    const isPosted = sent.get('client_id') === client.id && sent.get('client_secret') === client.secret;
    if (headers.authorization !== basic && !isPosted) return json({ error: 'invalid_client' }, 401);
    const asked = codes.get(sent.get('code'));
    codes.delete(sent.get('code'));
    const challenge = createHash('sha256').update(sent.get('code_verifier') ?? '').digest('base64url');
    const isRight =
      asked?.get('code_challenge') === challenge &&
      asked.get('redirect_uri') === sent.get('redirect_uri') &&
      sent.get('grant_type') === 'authorization_code';
    if (!isRight) return json({ error: 'invalid_grant' }, 400);
    const idToken = signed(asked.get('nonce'));
    return json({ access_token: 'the access', token_type: 'Bearer', id_token: idToken, ...shape.tokens });
  }

  function signed(nonce) {
    const { says } = provider;
    const now = Math.floor(Date.now() / 1000);
    const protocol = { iss: issuer, aud: client.id, iat: now, exp: now + 300, nonce };
    const claims = { ...protocol, ...shape.claims(client.id), ...says.claims };
    for (const name of says.without ?? []) delete claims[name];
    const head = { alg: 'RS256', kid: shape.keyId, typ: 'JWT', ...says.head };
    const text = `${base64(JSON.stringify(head))}.${base64(JSON.stringify(claims))}`;
    return `${text}.${signers[says.signer ?? 'RS256'](keys, text).toString('base64url')}`;
  }

  return Object.assign(provider, {
    issuer,
    stop: () => (listener.closeAllConnections(), listener.close()),
  });
}
