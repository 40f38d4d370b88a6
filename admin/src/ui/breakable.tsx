import { Fragment } from 'react';

/** An e-mail address that breaks after its signs where it does not fit, and not within a word. */
export const BreakableEmail = ({ email }: { email: string }) =>
  email.split(/(?<=[@.])/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one address never change places
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
