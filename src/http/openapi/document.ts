import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { BASE_PATH } from '../../../contract/common.ts';
import { VERSION } from '../../version.ts';
import { withHeadersAndExamples } from './answers.ts';
import { withEvents } from './events.ts';
import { GUIDE } from './guide.ts';
import type { Json } from './json.ts';
import { withNeededSchemas } from './needed-schemas.ts';

/** A schema may name its own JSON form under `override`, where its input is text but means a number or a time. */
const zodToJsonConfig = {
  override: ({ jsonSchema }: { jsonSchema: Json }) => {
    const { override, description, examples } = jsonSchema;
    if (!override) return;
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, override, description && { description }, examples && { examples });
  },
};

export const describeApi = async (app: FastifyInstance, publicUrl: string): Promise<void> => {
  const transformObject = createJsonSchemaTransformObject({ zodToJsonConfig });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Handback External API',
        version: VERSION,
        summary: 'Offline repairs and trade returns, for the systems of a shop.',
        description: GUIDE,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: `${publicUrl}${BASE_PATH}` }],
      tags: [
        {
          name: 'Offline repairs',
          description: 'Items handed in at a counter, a service desk or a partner.',
        },
      ],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Api-Key',
            description: 'The key shown once when the API client was made.',
          },
          bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a Bearer token.' },
        },
      },
      security: [{ apiKey: [] }, { bearer: [] }],
    },
    transform: (route) => {
      const inside = route.url.startsWith(`${BASE_PATH}/`);
      if (!inside || !route.schema) return { schema: { hide: true }, url: route.url };
      return { ...toJsonSchema(route), url: route.url.slice(BASE_PATH.length) };
    },
    transformObject: (document) =>
      withEvents(withHeadersAndExamples(withNeededSchemas(transformObject(document)))),
  });
};

const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig });
