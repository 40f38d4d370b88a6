import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'vite';
import { partOf } from './parts.ts';
import { textsByPage } from './texts-by-page.ts';

/** The first page holds the names of all parts. So those that several pages share have only a hash, or it would be too large. */
const nameOfPart = ({ isDynamicEntry }: { isDynamicEntry: boolean }): string =>
  isDynamicEntry ? 'assets/[name]-[hash].js' : 'assets/[hash].js';

const config: UserConfig = {
  root: import.meta.dirname,
  base: '/admin/',
  // Only the page knows its path from the host on, and the service changes it there (PUBLIC_URL); parts find each other beside them.
  experimental: { renderBuiltUrl: (_file, { hostType }) => ({ relative: hostType !== 'html' }) },
  plugins: [react(), textsByPage()],
  build: {
    outDir: '../dist/admin',
    emptyOutDir: true,
    // Browsers without modulepreload load the same files a little later.
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/admin/api': 'http://127.0.0.1:3000' } },
};

export default defineConfig(async ({ command }) => {
  if (command === 'serve') return config;
  // A part is imported by parts of fewer pages only, so that none needs itself.
  const codeSplitting = {
    includeDependenciesRecursively: false,
    groups: [{ name: await partOf(config), debugName: 'parts' }],
  };
  return {
    ...config,
    build: {
      ...config.build,
      rolldownOptions: { output: { chunkFileNames: nameOfPart, codeSplitting } },
    },
  };
});
