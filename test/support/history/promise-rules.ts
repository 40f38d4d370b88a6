import { byId, groupBy, isoOf, type Rule } from './rule.ts';

// What callers were told holds: what was acknowledged is there, and one key made one RMA.

const numberOf = (rmaNumber: string): number => Number(rmaNumber.replace('#RMA-', ''));

const creationsExist: Rule = ({ creations }, { rmas }) => {
  const kept = byId(rmas);
  return creations.flatMap(({ id, rmaNumber }) => {
    const rma = kept.get(id);
    if (!rma) return [`${rmaNumber} (${id}) was acknowledged and is not there`];
    return rma.number === numberOf(rmaNumber)
      ? []
      : [`${id} was acknowledged as ${rmaNumber} and has the number ${rma.number}`];
  });
};

const movesExist: Rule = ({ moves }, { events }) => {
  const made = new Set(events.map(({ rmaId, event, at }) => `${event} of ${rmaId} at ${isoOf(at)}`));
  return moves
    .map(({ rmaId, event, timestamp }) => `${event} of ${rmaId} at ${timestamp}`)
    .filter((move) => !made.has(move))
    .map((move) => `${move} was acknowledged and is not there`);
};

const nameOf = ({ clientId, key }: { clientId: string | null; key: string | null }): string =>
  `${clientId} ${key}`;

const oneKeyOneRma: Rule = ({ keys, creations }, { rmas }) => {
  const used = new Map(keys.map((use) => [nameOf(use), use.key]));
  const answers = groupBy(
    creations.filter(({ key }) => key !== null),
    nameOf,
  );
  const made = groupBy(rmas, ({ clientId, externalRef }) => nameOf({ clientId, key: externalRef }));
  return [...used].flatMap(([name, key]) => {
    const ids = made.get(name)?.map(({ id }) => id) ?? [];
    const different = new Set(answers.get(name)?.map(({ answer }) => answer));
    return [
      ...(ids.length > 1 ? [`the key ${key} made ${ids.length} RMAs: ${ids.join(', ')}`] : []),
      ...(different.size > 1 ? [`the key ${key} got ${different.size} different answers`] : []),
    ];
  });
};

export const PROMISE_RULES = {
  'acknowledged creations exist': creationsExist,
  'acknowledged moves exist': movesExist,
  'one key, one RMA, one answer': oneKeyOneRma,
};
