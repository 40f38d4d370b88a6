/** What a webhook's body is, to the byte, given the event: the signature is over this. */
export const eventBody = (event: string, timestamp: string, data: object): string =>
  JSON.stringify({ event, timestamp, data });
