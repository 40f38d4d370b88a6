import type { Request } from '../requests.ts';

export interface LoadOptions {
  connections: number;
  seconds: number;
}

/** The command line of a load generator. It may write its input into the folder, and prints its outcome as JSON. */
export type LoadCommand = (
  folder: string,
  url: string,
  requests: Request[],
  options: LoadOptions,
) => [string, ...string[]];
