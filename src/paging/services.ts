import type { Core } from '../platform/core.ts';
import type { HeavyLists } from './heavy-lists.ts';
import type { PageResponses } from './page-response.ts';

/** The services that lists need. */
export interface PagingServices extends Core {
  pageResponses: PageResponses;
  heavyLists: HeavyLists;
}
