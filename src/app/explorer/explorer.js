// GraphiQL, on the page that has an element `explorer`. Requests are authenticated by the session cookie.
import 'graphiql/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './explorer.css';

import { GraphiQL } from 'graphiql';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const fetcher = async (parameters) => {
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(parameters),
  });
  return answer.json();
};

const place = document.getElementById('explorer');
const { query } = place.dataset;
createRoot(place).render(createElement(GraphiQL, { fetcher, defaultQuery: query, isHeadersEditorEnabled: false }));
