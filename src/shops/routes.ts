import type { FastifyInstance } from 'fastify';
import { SignInRules } from '../../contract/admin-access.ts';
import { DangerousGoods, ReplaceDangerousGoods } from '../../contract/admin-people.ts';
import { TargetDays } from '../../contract/admin-work.ts';
import { ReplaceShopSettings, ShopSettings } from '../../contract/shop-settings.ts';
import { Usage } from '../../contract/usage.ts';
import { routesOf } from '../http/route.ts';
import type { Core } from '../platform/core.ts';
import { changeShop } from './actions.ts';
import { readUsage } from './allowance.ts';
import { changeDangerousGoods, listRules } from './dangerous-goods.ts';
import {
  readShopSettings,
  readTargets,
  replaceShopSettings,
  replaceTargets,
  viewTargets,
} from './settings.ts';

export const usageRoutes = (app: FastifyInstance, ctx: Core): void =>
  routesOf(app, { tag: 'Usage' })({
    at: 'GET /usage',
    operationId: 'getUsage',
    summary: "Get this month's usage",
    description:
      'How many RMAs the shop has created this month, and how many more it may create. Call it before you create many.',
    response: ['As it stands now.', Usage],
    handle: ({ caller }) => readUsage(ctx, caller.shop),
  });

/** Room for the logo, which is larger than any other body. */
const SETTINGS_BODY_BYTES = 384 * 1024;

export const settingsRoutes = (app: FastifyInstance, ctx: Core): void => {
  const route = routesOf(app, { tag: 'Settings' });
  route({
    at: 'GET /shop-settings',
    operationId: 'getShopSettings',
    summary: "Read the shop's settings",
    response: ['The settings.', ShopSettings],
    handle: ({ caller }) => readShopSettings(ctx.db, caller.shop),
  });
  route({
    at: 'PUT /shop-settings',
    operationId: 'replaceShopSettings',
    shopLimit: 'settings',
    role: 'ADMIN',
    summary: "Replace the shop's settings",
    bodyLimit: SETTINGS_BODY_BYTES,
    body: ReplaceShopSettings,
    response: ['The settings as they are now.', ShopSettings],
    handle: ({ caller, body }) => replaceShopSettings(ctx, caller, body),
  });
  route({
    at: 'GET /target-days',
    operationId: 'getTargetDays',
    summary: 'Read the target days',
    response: ['The targets.', TargetDays],
    handle: async ({ caller }) => viewTargets(await readTargets(ctx, caller.shop.id)),
  });
  route({
    at: 'PUT /target-days',
    operationId: 'replaceTargetDays',
    shopLimit: 'settings',
    role: 'ADMIN',
    summary: 'Replace the target days',
    description:
      'After so many days in a status a return is overdue. They apply at once, also to returns that are already waiting; a move restarts the count.',
    body: TargetDays,
    response: ['The targets as they are now.', TargetDays],
    handle: ({ caller, body }) => replaceTargets(ctx, caller.actor, caller.shop.id, body),
  });
};

export const ruleRoutes = (app: FastifyInstance, ctx: Core): void => {
  const route = routesOf(app, { tag: 'Settings', role: 'ADMIN' });
  route({
    at: 'GET /dangerous-goods',
    operationId: 'getDangerousGoods',
    summary: 'Read the dangerous-goods rules',
    response: ['The rules.', DangerousGoods],
    handle: async ({ caller }) => ({ rules: await listRules(ctx.db, caller.shop.id) }),
  });
  route({
    at: 'PUT /dangerous-goods',
    operationId: 'replaceDangerousGoods',
    shopLimit: 'settings',
    summary: 'Replace the dangerous-goods rules',
    description: 'They apply from the next repair on; earlier repairs stay as they are.',
    body: ReplaceDangerousGoods,
    response: ['The rules as they are now.', DangerousGoods],
    async handle({ caller: { shop, actor }, body }) {
      return { rules: await changeDangerousGoods(ctx, actor, shop.id, { replace: body.rules }) };
    },
  });
  route({
    at: 'GET /sign-in-rules',
    operationId: 'getSignInRules',
    summary: 'Read what signing in requires',
    response: ['The rules.', SignInRules],
    handle: async ({ caller: { shop } }) => ({ secondFactorRequired: shop.secondFactorRequired }),
  });
  route({
    at: 'PUT /sign-in-rules',
    operationId: 'changeSignInRules',
    shopLimit: 'settings',
    proof: true,
    summary: 'Change what signing in requires',
    body: SignInRules,
    response: ['The rules as they are now.', SignInRules],
    async handle({ caller, body }) {
      await changeShop(ctx, caller.actor, caller.shop.id, body);
      return body;
    },
  });
};
