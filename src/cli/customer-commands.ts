import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { FindCustomer } from '../../contract/personal-data.ts';
import { listClients } from '../api-clients/store.ts';
import { OPERATOR } from '../audit/store.ts';
import { eraseCustomer } from '../personal-data/erase.ts';
import { addErasures, countUnfinished, finishErasures, ListedErasure } from '../personal-data/erasures.ts';
import { exportCustomer, findCustomer } from '../personal-data/find.ts';
import type { Context } from '../service/context.ts';
import { beginShopDeletion, deleteShopStep, exportShop } from '../shops/delete-shop.ts';
import { cannot, refuseExisting, writeNew } from './backup-file.ts';
import { CliFailure, notice, print } from './command.ts';
import { shopById } from './commands.ts';

// What the commands about customers do, and `shop delete`.

type PersonOptions = FindCustomer & { shop: string };

const operatorOf = async (ctx: Context, shopId: string) => ({
  shop: await shopById(ctx, shopId),
  actor: OPERATOR,
});

export const customerFind = async (ctx: Context, { shop, ...person }: PersonOptions) => {
  const { total, returns } = await findCustomer(ctx, await operatorOf(ctx, shop), person);
  if (total > returns.length)
    notice(`${total} returns hold the customer: the newest ${returns.length} follow`);
  return returns;
};

export const customerExport = async (
  ctx: Context,
  { shop, output, ...person }: PersonOptions & { output?: string },
) => {
  if (output) refuseExisting(output, false);
  const text = await exportCustomer(ctx, await operatorOf(ctx, shop), person);
  if (output) return { file: output, bytes: await writeNew(output, text) };
  for await (const chunk of text) process.stdout.write(chunk);
  process.stdout.write('\n');
};

type Flags = { [Flag in 'includeOpen' | 'dryRun' | 'confirm' | 'json']?: boolean };

export const customerErase = async (ctx: Context, options: PersonOptions & Flags & { reason: string }) => {
  const { shop, json, confirm, dryRun = false, includeOpen = false, ...asked } = options;
  const caller = await operatorOf(ctx, shop);
  const planned = await eraseCustomer(ctx, caller, { ...asked, includeOpen, dryRun: true });
  const refused = planned.refused.map(({ rmaNumber, reason }) => `${rmaNumber} ${reason}`);
  const named = planned.returns.map(({ rmaNumber }) => rmaNumber);
  if (dryRun) return { ...planned, returns: named, refused };
  if (!confirm)
    throw new CliFailure(
      `this would erase ${planned.erased + planned.remaining} of ${planned.matched} returns, and cannot be undone: add --confirm, or look first with --dry-run`,
    );
  if (!json) print({ erases: named, refuses: refused }, false);
  let erased = 0;
  for (let remaining = 1; remaining > 0; ) {
    const done = await eraseCustomer(ctx, caller, { ...asked, includeOpen, dryRun });
    erased += done.erased;
    remaining = done.erased > 0 ? done.remaining : 0;
  }
  return { erased, refused };
};

// --- the list of erasures ---

/** Reads all of it before anything is written. */
export const readErasureList = async (path: string): Promise<ListedErasure[]> => {
  const text = await readFile(path, 'utf8').catch((error) => cannot('read', path, error));
  return (text.match(/.*\n|.+$/g) ?? []).map((line, i) => {
    try {
      return ListedErasure.parse(JSON.parse(line));
    } catch {
      throw new CliFailure(`line ${i + 1} of ${path} cannot be read: nothing was changed`);
    }
  });
};

/** So long that writers of a running service get their turn. */
const PAUSE_MS = 10;

/** Erases what a list added. */
export const applyErasures = async (ctx: Context) => {
  const { unfinished, unknown } = await countUnfinished(ctx.db);
  while (await finishErasures(ctx)) await pause(PAUSE_MS);
  await ctx.scrub();
  return { applied: unfinished - unknown, unknown };
};

export const customerErasures = async (ctx: Context, { apply }: { apply?: string }) => {
  const columns = Object.keys(ListedErasure.shape) as (keyof ListedErasure)[];
  const all = ctx.db.selectFrom('erasures').select(columns).orderBy('subject_id');
  if (apply === undefined) {
    for (const erasure of await all.execute()) process.stdout.write(`${JSON.stringify(erasure)}\n`);
    return;
  }
  const list = await readErasureList(apply);
  await ctx.db.transaction().execute((trx) => addErasures(trx, list));
  return { listed: list.length, ...(await applyErasures(ctx)) };
};

// --- shop delete ---

export const shopDelete = async (
  ctx: Context,
  id: string,
  { confirm, export: file }: { confirm: string; export: string | false },
) => {
  const { name } = await shopById(ctx, id);
  if (name !== confirm) throw new CliFailure(`shop ${id} has another name: nothing was deleted`);
  const active = (await listClients(ctx.db, id)).filter((each) => !each.revokedAt && !each.replacedBy);
  const names = active.map((client) => `${client.name} (${client.id})`).join(', ');
  if (names) throw new CliFailure(`the shop has active clients: revoke ${names} first; nothing was deleted`);
  const begun = ctx.db.selectFrom('erasures').select('at').where('subject_id', '=', id);
  if (file && (await begun.executeTakeFirst())) notice('the deletion began before: no export is written now');
  else if (file) await writeNew(file, exportShop(ctx, id));
  await beginShopDeletion(ctx, id);
  let rows = 0;
  for (let deleted = 1; deleted > 0; rows += deleted) deleted = await deleteShopStep(ctx, id);
  await ctx.scrub();
  return { id, name, rows, deleted: true };
};
