import { z } from 'zod';
import { LENGTH, text } from './fields.ts';
import { NewPassword, newStaffEmail, PersonName } from './person-fields.ts';

// The schemas of the first start, which creates the first shop and its Admin.

const setUpToken = () =>
  text(LENGTH.reference, { description: 'The token of the setup link that the latest start printed.' });

export const GivenSetUp = z.strictObject({ token: setUpToken() }).meta({ id: 'GivenSetUp' });

export const SetUp = z
  .strictObject({
    token: setUpToken(),
    shopName: text(LENGTH.name, { examples: ['Harbour Road Electrics'] }),
    email: newStaffEmail(),
    name: PersonName,
    password: NewPassword,
  })
  .meta({ id: 'SetUp' });
export type SetUp = z.infer<typeof SetUp>;
