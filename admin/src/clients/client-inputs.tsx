import { TextInput } from '@mantine/core';

const WEBHOOK_HELP =
  'Events are sent here as they happen. An https address that can be reached from the internet; leave empty for none.';

interface Props {
  inputProps: (field: 'name' | 'webhookUrl') => object;
}

export const ClientInputs = ({ inputProps }: Props) => (
  <>
    <TextInput
      label="Name"
      description="What you will know it by: the program, perhaps also where it runs."
      placeholder="Till, Berlin"
      required
      data-autofocus
      autoComplete="off"
      {...inputProps('name')}
    />
    <TextInput
      label="Webhook URL (optional)"
      description={WEBHOOK_HELP}
      placeholder="https://erp.example.com/hooks/handback"
      type="url"
      autoComplete="off"
      {...inputProps('webhookUrl')}
    />
  </>
);
