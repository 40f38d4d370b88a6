import type { Answer } from '../http.ts';
import type { FeedItem, History } from './history.ts';

interface Follower {
  history: History;
  shopId: string;
  /** Asks until there is an answer. */
  get(path: string): Promise<Answer>;
  /** How many events it asks for at once. */
  limit: number;
  isOver(): boolean;
}

/** Follows the feed as the guide says, until nothing more is written and it has read everything. */
export const follow = async ({ history, shopId, get, limit, isOver }: Follower): Promise<void> => {
  const items: FeedItem[] = [];
  for (let after = ''; ; ) {
    const wasOver = isOver();
    const query = new URLSearchParams({ limit: String(limit), wait: '1', ...(after ? { after } : {}) });
    const { status, body } = await get(`/events?${query}`);
    if (status !== 200) throw new Error(`the feed answered ${status}`);
    items.push(...body.items);
    after = body.cursor;
    if (wasOver && body.items.length === 0) break;
  }
  history.feeds.push({ shopId, items });
};
