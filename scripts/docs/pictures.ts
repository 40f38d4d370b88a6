import {
  DEFAULT_START_STATUS,
  OFFLINE_REPAIR_MOVES,
  TRADE_RETURN_MOVES,
  TRADE_RETURN_START,
} from '../../contract/lifecycle.ts';

// The two lives as pictures. Statuses, moves and events come from the tables in contract/lifecycle.ts; only the layout is here.
// Narrow enough for a phone; colours come from the page's style sheet, so that they fit light and dark.

const WIDTH = 380;
const BOX = { left: 44, width: 190, height: 34 };
const CENTRE = BOX.left + BOX.width / 2;
const STEP = 96;
const TOP = 20;
const RIGHT = BOX.left + BOX.width;

const boxTop = (row: number): number => TOP + row * STEP;
const boxMiddle = (row: number): number => boxTop(row) + BOX.height / 2;

const box = (row: number, label: string, kind: 'call' | 'status' | 'end' = 'status'): string =>
  `<g class="box ${kind}"><rect x="${BOX.left}" y="${boxTop(row)}" width="${BOX.width}" height="${BOX.height}" rx="8"/>` +
  `<text x="${CENTRE}" y="${boxMiddle(row) + 4}" text-anchor="middle">${label}</text></g>`;

const label = (x: number, y: number, move: string, event: string): string =>
  `<text class="move" x="${x}" y="${y}">${move}</text><text class="event" x="${x}" y="${y + 15}">${event}</text>`;

/** From a box to the next one below. */
const down = (row: number, move: string, event: string): string => {
  const from = boxTop(row) + BOX.height;
  return (
    `<path class="arrow" d="M${CENTRE} ${from + 2}V${boxTop(row + 1) - 8}"/>` +
    label(CENTRE + 12, from + 27, move, event)
  );
};

/** Past the boxes in between, on the left. */
const around = (fromRow: number, toRow: number): string => {
  const [from, to, out] = [boxMiddle(fromRow), boxMiddle(toRow), 16];
  return `<path class="arrow" d="M${BOX.left - 2} ${from}H${out + 10}Q${out} ${from} ${out} ${from + 10}V${to - 10}Q${out} ${to} ${out + 10} ${to}H${BOX.left - 8}"/>`;
};

const picture = (rows: number, title: string, parts: string[], caption: string): string => {
  const height = boxTop(rows - 1) + BOX.height + TOP;
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  return (
    `<figure class="picture"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}">` +
    `<title id="${id}">${title}</title>` +
    `<defs><marker id="${id}-tip" class="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z"/></marker></defs>` +
    `${parts.join('').replaceAll('class="arrow"', `class="arrow" marker-end="url(#${id}-tip)"`)}</svg>` +
    `<figcaption>${caption}</figcaption></figure>\n`
  );
};

/** The usual way of a repair. Each move is allowed from any status, so these are the arrows that one meets most. */
const offlineRepair = (): string => {
  const way = ['begin-diagnostics', 'begin-repair', 'resolve', 'close'] as const;
  const moves = way.map((name) => ({ name, ...OFFLINE_REPAIR_MOVES[name] }));
  const boxes = ['COUNTER_SWAPPED', ...moves.map(({ to }) => to)];
  const defaultRow = boxes.indexOf(DEFAULT_START_STATUS) + 1;
  return picture(
    boxes.length + 1,
    'The usual way of an offline repair',
    [
      box(0, 'POST /offline-repairs', 'call'),
      down(0, 'startStatus COUNTER_SWAPPED', 'offline_repair.created'),
      around(0, defaultRow),
      ...boxes.map((status, i) => box(i + 1, status, i === boxes.length - 1 ? 'end' : 'status')),
      ...moves.map(({ name, event }, i) => down(i + 1, name, event)),
    ],
    'The usual way. Without <code>startStatus</code> a repair begins in diagnostics (the line on the left). Every call may be made from any status.',
  );
};

const tradeReturn = (): string => {
  const way = ['approve', 'receive', 'request-credit', 'resolve'] as const;
  const moves = way.map((name) => ({ name, ...TRADE_RETURN_MOVES[name] }));
  const boxes: string[] = [TRADE_RETURN_START, ...moves.map(({ to }) => to)];
  const row = (status: string): number => boxes.indexOf(status) + 1;
  const { reject } = TRADE_RETURN_MOVES;
  const rejectedAt = {
    x: 258,
    y: (boxMiddle(row('TRADE_SUBMITTED')) + boxMiddle(row('TRADE_APPROVED'))) / 2,
  };
  const rejections = reject.from.map((status) => {
    const y = boxMiddle(row(status));
    const tip = rejectedAt.y + (y < rejectedAt.y ? -BOX.height / 2 - 8 : BOX.height / 2 + 8);
    return `<path class="arrow" d="M${RIGHT + 2} ${y}H${rejectedAt.x + 48}Q${rejectedAt.x + 58} ${y} ${rejectedAt.x + 58} ${y + (tip > y ? 10 : -10)}V${tip}"/>`;
  });
  return picture(
    boxes.length + 1,
    'The life of a trade return',
    [
      box(0, 'POST /trade-returns', 'call'),
      down(0, 'create', 'trade_return.created'),
      ...boxes.map((status, i) => box(i + 1, status, i === boxes.length - 1 ? 'end' : 'status')),
      ...moves.map(({ name, event }, i) =>
        // Beside the first of them stands the box for rejected returns.
        down(i + 1, name, name === 'approve' ? '' : event),
      ),
      around(row('TRADE_RECEIVED'), row('TRADE_RESOLVED')),
      ...rejections,
      `<g class="box end"><rect x="${rejectedAt.x}" y="${rejectedAt.y - BOX.height / 2}" width="118" height="${BOX.height}" rx="8"/>` +
        `<text x="${rejectedAt.x + 59}" y="${rejectedAt.y + 4}" text-anchor="middle">${reject.to}</text></g>`,
    ],
    'The shop’s staff make these moves in the admin app. Approve, reject and receive fire <code>trade_return.status_changed</code>. Credit may be left out: a return that was received can be resolved at once (the line on the left).',
  );
};

export const PICTURES = { 'offline-repair': offlineRepair, 'trade-return': tradeReturn };
export type PictureName = keyof typeof PICTURES;
