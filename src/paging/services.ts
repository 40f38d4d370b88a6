import type { Core } from '../platform/core.ts';
import type { HeavyLists } from './heavy-lists.ts';
import type { PageResponses } from './page-response.ts';

export interface PagingServices extends Core {
  pageResponses: PageResponses;
  heavyLists: HeavyLists;
}
