// The configuration of graphql-codegen: reads the server's schema, and writes types for the documents of main.ts.
const { ROLLCALL_URL, ROLLCALL_TOKEN } = process.env;

export default {
  schema: [{ [ROLLCALL_URL]: { headers: { Authorization: `Bearer ${ROLLCALL_TOKEN}` } } }],
  documents: ['main.ts'],
  emitLegacyCommonJSImports: false,
  generates: {
    './generated/': {
      preset: 'client',
      config: { documentMode: 'string', enumsAsTypes: true, useTypeImports: true, scalars: { ISO8601DateTime: 'string' } },
    },
  },
};
