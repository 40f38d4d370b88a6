import { originOf } from './kept.ts';
import { groupBy, isoOf, type Rule, repeated } from './rule.ts';

// What a shop's counters say is what its rows say.

const numbersUnique: Rule = (_history, { shops, rmas }) => [
  ...repeated(rmas.map(({ shopId, number }) => `number ${number} of shop ${shopId}`)).map(
    (number) => `the ${number} was given more than once`,
  ),
  ...shops.flatMap(({ id, lastNumber }) =>
    rmas
      .filter(({ shopId, number }) => shopId === id && number > lastNumber)
      .map(
        ({ number }) => `shop ${id} would give the number ${number} again: its counter is at ${lastNumber}`,
      ),
  ),
];

const allowanceExact: Rule = (_history, { shops, rmas }) =>
  shops.flatMap(({ id, allowance, month, used }) => {
    const created = rmas.filter((rma) => rma.shopId === id && isoOf(rma.createdAt).startsWith(month)).length;
    return [
      ...(used === created
        ? []
        : [`shop ${id} has ${created} RMAs of ${month} and ${used} places of it taken`]),
      ...(allowance !== null && created > allowance
        ? [`shop ${id} has ${created} RMAs of ${month} and an allowance of ${allowance}`]
        : []),
    ];
  });

const totalsAreCounts: Rule = (_history, { totals, rmas }) => {
  const counted = groupBy(rmas, (rma) => `${rma.kind} of ${rma.shopId}, ${originOf(rma)}, ${rma.status}`);
  const kept = new Map(
    totals.map(({ shopId, kind, origin, status, count }) => [
      `${kind} of ${shopId}, ${origin}, ${status}`,
      count,
    ]),
  );
  return [...new Set([...counted.keys(), ...kept.keys()])].flatMap((name) => {
    const [total, count] = [kept.get(name) ?? 0, counted.get(name)?.length ?? 0];
    return total === count ? [] : [`${name}: the total is ${total}, and there are ${count}`];
  });
};

export const ALLOWANCE_RULES = {
  'numbers are unique': numbersUnique,
  'the allowance is exact': allowanceExact,
  'totals are counts': totalsAreCounts,
};
