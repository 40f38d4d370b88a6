/** The body of an event that was made elsewhere: the same bytes as the outbox writes. */
export const eventBody = (event: string, timestamp: string, data: object): string =>
  JSON.stringify({ event, timestamp, data });
