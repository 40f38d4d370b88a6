// Builds the admin app into dist/admin; run by npm ci. Plain JavaScript, so that any Node can run it: where only what the
// service needs at run time was installed, it says so and leaves it at that.

const vite = await import('vite').catch(() => null);
if (vite)
  await vite.build({
    configFile: new URL('../admin/vite.config.ts', import.meta.url).pathname,
    logLevel: 'warn',
  });
else process.stdout.write('admin app not built: vite is not installed\n');
