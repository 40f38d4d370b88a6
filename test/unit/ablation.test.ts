import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MECHANISMS } from '../../bench/ablation/mechanisms.ts';
import { edited } from '../../bench/ablation/variant.ts';

// `npm run bench -- --ablate` takes mechanisms away by changing a few lines. A change of these lines fails here.
it.each(MECHANISMS)('$name can be taken away', ({ edits, withoutFlags }) => {
  expect(edits.length > 0 || withoutFlags).toBe(true);
  for (const edit of edits) {
    const text = readFileSync(new URL(`../../${edit.file}`, import.meta.url), 'utf8');
    expect(edited(text, edit)).not.toBe(text);
  }
});
