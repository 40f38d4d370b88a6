import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core';
import { Download, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import styles from './recovery-codes.module.css';

const download = (codes: readonly string[]): void => {
  const text = `Handback recovery codes. Each works once.\n\n${codes.join('\n')}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'handback-recovery-codes.txt';
  link.click();
  URL.revokeObjectURL(url);
};

/** The ten codes, which nobody sees again. */
export const RecoveryCodeList = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => {
  const [stored, setStored] = useState(false);
  return (
    <Stack>
      <Alert
        color="yellow"
        title="Store these codes now: they are shown this once"
        icon={<TriangleAlert aria-hidden />}
      >
        With one of them you get in when your phone is lost. Each works once. Print them or keep them in a
        password manager, not on the same phone.
      </Alert>
      <ul className={styles['codes']} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group gap="xs">
        <CopyButton text={codes.join('\n')} what="the recovery codes" />
        <Button
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
          onClick={() => download(codes)}
        >
          Save as a file
        </Button>
      </Group>
      <Checkbox
        label="I have stored the codes in a safe place"
        checked={stored}
        onChange={(event) => setStored(event.currentTarget.checked)}
      />
      <div>
        <Button disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </div>
    </Stack>
  );
};
