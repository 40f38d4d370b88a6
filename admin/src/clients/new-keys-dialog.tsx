import { Alert, Button, Checkbox, Group, Modal, Stack } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import type { NewApiClientView } from '../../../contract/admin.ts';
import { CopyBlock, CopyField } from '../ui/copy-fields.tsx';
import { firstCallWith } from './first-call.ts';

interface Props {
  client: z.infer<typeof NewApiClientView>;
  /** What else there is to know about it. */
  note?: string;
  onClose: () => void;
}

/** Shows the key and the secret, which nobody sees again; so only its button closes it. */
export const NewKeysDialog = ({ client, note, onClose }: Props) => {
  const [stored, setStored] = useState(false);
  useBlocker({
    shouldBlockFn: () => !window.confirm('Leave this page? The API key cannot be shown again.'),
    enableBeforeUnload: true,
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={`${client.name} is ready`}
      withCloseButton={false}
      attributes={{ header: { role: 'none' } }}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
    >
      <Stack>
        <Alert
          color="yellow"
          title="Store these now: they are shown this once"
          icon={<TriangleAlert aria-hidden />}
        >
          Nobody can look them up later, not even we. If they are lost, replace this client. {note}
        </Alert>
        <Keys client={client} />
        <Checkbox
          label="I have stored the key and the secret in a safe place"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Group justify="space-between">
          <Button component="a" href="/docs/quick-start" target="_blank" rel="noopener" variant="subtle">
            Quick start (new tab)
          </Button>
          <Button disabled={!stored} onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};

const Keys = ({ client }: Pick<Props, 'client'>) => (
  <>
    <CopyField
      label="API key"
      description="Goes with every request of the program."
      what="the API key"
      value={client.apiKey}
    />
    <CopyField
      label="Webhook secret"
      description={
        client.webhookUrl
          ? 'With it the program checks that an event really comes from here.'
          : 'For checking events, once the client has a webhook URL.'
      }
      what="the webhook secret"
      value={client.webhookSecret}
    />
    <CopyBlock
      label="Try it"
      description="Reads the three newest repairs that programs of the shop made."
      what="the command"
      value={firstCallWith(client.apiKey)}
    />
  </>
);
