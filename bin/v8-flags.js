// The service keeps V8's heap small (ADR 0026). V8 reads these once, before any program begins, so they cannot be set from inside:
// the process replaces itself by one that has them. It keeps its id, its signals and its streams, and there is no second process.

export const V8_FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=40', '--v8-pool-size=1'];

/**
 * For glibc, which otherwise keeps what was freed: one arena for all threads, and blocks of 128 kB and more go back to the system at
 * once. Left to itself glibc raises that limit to the largest block that was ever freed.
 */
export const MALLOC_SETTINGS = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

const nameOf = (flag) => flag.replace(/=.*/, '');

/** Returns where they are set already, and where a process cannot replace itself: on Windows, and under a parent that talks to it. */
export const ensureV8Flags = () => {
  if (!process.execve || process.channel) return;
  // A value that the operator chose stays.
  const chosen = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].map(nameOf);
  const missing = V8_FLAGS.filter((flag) => !chosen.includes(nameOf(flag)));
  const env = { ...MALLOC_SETTINGS, ...process.env };
  if (missing.length === 0 && Object.keys(MALLOC_SETTINGS).every((name) => name in process.env)) return;
  process.execve(
    process.execPath,
    [process.execPath, ...missing, ...process.execArgv, ...process.argv.slice(1)],
    env,
  );
};
