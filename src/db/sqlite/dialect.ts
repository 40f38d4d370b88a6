import { sql } from 'kysely';
import { anyCase } from '../any-case.ts';
import { asJson, type Dialect, encoded } from '../statements.ts';

const globPattern = (part: string): string => `*${part.replaceAll(/[*?[]/g, '[$&]')}*`;

const anyCaseGlob = (part: string): string =>
  `*${anyCase(part, (character) => character.replaceAll(/[*?[]/g, '[$&]'))}*`;

/** How SQLite spells what the engines spell differently. */
export const dialect: Dialect = {
  rows: (alias, columns, values) => {
    const parts = Object.keys(columns).map(
      (name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.id(name)}`,
    );
    return sql`(select ${sql.join(parts)} from json_each(${asJson(values)})) as ${sql.id(alias)}`;
  },
  oneOf: (_kind, values) => sql`in (select value from json_each(${asJson(values)}))`,
  among: (query) => sql`in (${query})`,
  forEachRow: (alias, query) =>
    sql`json_each((select json_group_array(id) from (${query}))) as ${sql.id(alias)}`,
  // Takes half as long as LIKE, which also minds upper and lower case.
  contains: (column, part) => sql`${sql.ref(column)} glob ${encoded(part, globPattern)}`,
  containsAnyCase: (column, part) => sql`${sql.ref(column)} glob ${encoded(part, anyCaseGlob)}`,
};
