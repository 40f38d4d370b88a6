import { z } from 'zod';

/** The schema itself, without "optional", "nullable" and "default" around it. */
const unwrap = (schema: unknown): unknown =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;

/** The field names that an object at this path may have. */
export const fieldsAt = (root: z.ZodType, path: PropertyKey[]): string[] => {
  let schema = unwrap(root);
  for (const step of path) {
    if (schema instanceof z.ZodObject) schema = unwrap(schema.shape[String(step)]);
    else if (schema instanceof z.ZodArray) schema = unwrap(schema.element);
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
};

/** The paths of all fields at every level, `faultyItem.sku` and `items.0.sku` for example. */
export const allFields = (root: unknown, path: string[] = []): string[] => {
  const schema = unwrap(root);
  if (schema instanceof z.ZodArray) return allFields(schema.element, [...path, '0']);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => [
    [...path, name].join('.'),
    ...allFields(field, [...path, name]),
  ]);
};
