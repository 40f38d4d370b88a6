import { z } from 'zod';
import { LENGTH, text } from './fields.ts';
import { NewPassword, PersonName, staffEmail } from './person-fields.ts';

// The first start: what makes the first shop and its Admin.

const setUpToken = () =>
  text(LENGTH.reference, { description: 'From the link that the service printed at its latest start.' });

export const GivenSetUp = z.strictObject({ token: setUpToken() }).meta({ id: 'GivenSetUp' });

export const SetUp = z
  .strictObject({
    token: setUpToken(),
    shopName: text(LENGTH.name, { examples: ['Harbour Road Electrics'] }),
    email: staffEmail(),
    name: PersonName,
    password: NewPassword,
  })
  .meta({ id: 'SetUp' });
export type SetUp = z.infer<typeof SetUp>;
