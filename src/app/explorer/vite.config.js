import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex').slice(0, 8);

// The files are embedded compressed, as they are sent. The folder itself stays under version control, so that Cargo can
// watch it even if nothing was built.
const embeddable = {
  name: 'embeddable',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        const source = gzipSync(file.code ?? file.source, { level: 9 });
        delete bundle[name];
        this.emitFile({ type: 'asset', fileName: `${name}.gz`, source });
      }
      this.emitFile({ type: 'asset', fileName: '.gitignore', source: '*\n!.gitignore\n' });
    },
  },
};

export default {
  base: '/assets/',
  plugins: [embeddable],
  build: {
    assetsDir: '',
    // Never inline assets: the page's Content-Security-Policy allows `data:` for images only.
    assetsInlineLimit: 0,
    license: { fileName: `licences-${lock}.md` },
    rolldownOptions: { input: 'explorer.js', checks: { moduleLevelDirective: false } },
  },
};
