import { BASE_PATH } from '../../../contract/common.ts';

/** A command that tries out a key. */
export const firstCallWith = (key: string): string =>
  `curl -H 'X-Api-Key: ${key}' '${window.location.origin}${BASE_PATH}/offline-repairs?limit=3'`;
