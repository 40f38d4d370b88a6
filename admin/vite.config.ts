import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The first page holds the names of all parts. So those that several pages share have only a hash, or it would be too large. */
const nameOfPart = ({ isDynamicEntry }: { isDynamicEntry: boolean }): string =>
  isDynamicEntry ? 'assets/[name]-[hash].js' : 'assets/[hash].js';

export default defineConfig({
  root: import.meta.dirname,
  base: '/admin/',
  plugins: [react()],
  build: {
    outDir: '../dist/admin',
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { chunkFileNames: nameOfPart } },
  },
  server: { proxy: { '/admin/api': 'http://127.0.0.1:3000' } },
});
