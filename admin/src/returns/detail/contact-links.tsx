import { Anchor } from '@mantine/core';

export const EmailLink = ({ address }: { address: string }) => (
  <Anchor href={`mailto:${encodeURIComponent(address)}`} inherit>
    {address}
  </Anchor>
);

export const PhoneLink = ({ number }: { number: string | null }) =>
  number === null ? null : (
    <Anchor href={`tel:${number.replaceAll(/[^\d+]/g, '')}`} inherit>
      {number}
    </Anchor>
  );
