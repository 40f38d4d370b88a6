import { Alert } from '@mantine/core';

/** Why a form was not taken, above its inputs. */
export const FormFailure = ({ failure }: { failure: Error | null }) =>
  failure ? (
    <Alert color="red" role="alert">
      {failure.message}
    </Alert>
  ) : null;
