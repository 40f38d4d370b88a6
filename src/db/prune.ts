/**
 * How many rows one step of the clean-up deletes at most. SQLite deletes inside the event loop: a hundred rows of the largest
 * kind take it about 10 ms (decision 100).
 */
export const PRUNED_AT_ONCE = 100;
