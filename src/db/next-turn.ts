let starting: (() => void)[] = [];

/** All that begins in the next turn of the event loop begins together, so that what it sends to the database is one packet. */
export const nextTurn = (start: () => void): void => {
  if (starting.push(start) > 1) return;
  setImmediate(() => {
    const all = starting;
    starting = [];
    for (const each of all) each();
  });
};
