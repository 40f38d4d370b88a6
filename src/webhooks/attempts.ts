/** What one attempt came to, as it is kept in `webhook_deliveries.attempt_log`. */
export interface Attempt {
  at: number;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
}

/** The attempts of a delivery, or null where its log is damaged: one bad row must not fail those read with it. */
export const readAttempts = (log: string): Attempt[] | null => {
  try {
    const attempts: unknown = JSON.parse(log);
    return Array.isArray(attempts) ? attempts : null;
  } catch {
    // The dispatcher drops such a row, the admin app shows it without attempts.
    return null;
  }
};
