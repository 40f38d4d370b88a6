export const percentile = (values: number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const printTable = (head: string[], rows: (string | number)[][]): void => {
  const all = [
    head,
    ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell))),
  ];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  for (const row of all)
    process.stdout.write(`${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}\n`);
};
