import { Center, Loader } from '@mantine/core';

export const Loading = () => (
  <Center mih="50vh">
    <Loader role="status" aria-label="Loading" />
  </Center>
);
