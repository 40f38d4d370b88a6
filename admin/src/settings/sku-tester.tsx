import { Box, Card, Code, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { Check, TriangleAlert } from 'lucide-react';
import { useId, useState } from 'react';
import { matchingRule, ruleMatchingWithoutCase } from './rule-matching.ts';

export const SkuTester = ({ rules, unsaved }: { rules: readonly string[]; unsaved: boolean }) => {
  const [sku, setSku] = useState('');
  const id = useId();
  return (
    <Card withBorder component="section" aria-labelledby={id}>
      <Stack gap="sm">
        <Title order={3} size="h4" id={id}>
          Would this SKU be dangerous?
        </Title>
        <TextInput
          label="SKU to try"
          placeholder="BATT-18V-4AH"
          autoComplete="off"
          spellCheck={false}
          value={sku}
          onChange={(event) => setSku(event.currentTarget.value)}
        />
        <Box component="output" aria-live="polite" mih={48}>
          {sku.trim() === '' ? null : <Verdict rules={rules} sku={sku.trim()} />}
        </Box>
        {unsaved ? (
          <Text size="sm" c="dimmed">
            Tried against the list as you see it, changes that are not saved included.
          </Text>
        ) : null}
      </Stack>
    </Card>
  );
};

const Verdict = ({ rules, sku }: { rules: readonly string[]; sku: string }) => {
  const rule = matchingRule(rules, sku);
  const near = rule === undefined ? ruleMatchingWithoutCase(rules, sku) : undefined;
  return (
    <Group wrap="nowrap" align="flex-start" gap="xs">
      {rule === undefined ? <Check size={20} aria-hidden /> : <TriangleAlert size={20} aria-hidden />}
      <span>
        {rule === undefined ? (
          <>
            <b>No.</b> No rule fits it.
          </>
        ) : (
          <>
            <b>Yes, dangerous.</b> It fits <Code>{rule}</Code>.
          </>
        )}
        {near === undefined ? null : (
          <>
            {' '}
            <Code>{near}</Code> would, but for upper and lower case.
          </>
        )}
      </span>
    </Group>
  );
};
