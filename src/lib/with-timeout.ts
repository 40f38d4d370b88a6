/**
 * The result of the work, or an error where it takes too long; the work itself goes on. After a busy time of this process the
 * result may have arrived unread, so the timeout lets the event loop read it first.
 */
export const withTimeout = async <Result>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<Result> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => late.reject(onTimeout())), timeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
