import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Created } from '../rma/idempotency.ts';

/** Answers a creation: 201, and where the caller's key had been seen before, a header that says so. */
export const sendCreated = async <Answer>(
  request: Pick<FastifyRequest, 'headers'>,
  // biome-ignore lint/suspicious/noExplicitAny: replies of differently typed routes all fit
  reply: FastifyReply<any, any, any, any, any, any, any>,
  create: (key: string | undefined) => Promise<Created<Answer>>,
): Promise<void> => {
  const { answer, replayed } = await create(request.headers['idempotency-key'] as string | undefined);
  if (replayed) reply.header('idempotency-replayed', 'true');
  await reply.code(201).send(answer);
};
