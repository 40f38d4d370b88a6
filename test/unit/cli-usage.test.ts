import { describe, expect, it } from 'vitest';
import { runHere } from '../support/commands-here.ts';
import { run } from '../support/process.ts';

const ID = '019a8c1e-7a54-7cc1-9a3e-5b1f0c7d2e44';
const user = ['user', 'create', '--shop', ID, '--email', 'ada@example.com'];

describe('wrong usage exits with status 2 and says what is wrong', () => {
  const cases: [args: string[], about: RegExp][] = [
    [[], /Usage/],
    [['explode'], /explode/],
    [['shop'], /Usage/],
    [['shop', 'explode'], /explode/],
    [['shop', 'list', '--colour'], /--colour/],
    [['shop', 'list', 'surplus'], /argument/],
    [['serve', '--port', '80'], /--port/],
    [['shop', 'create'], /--name/],
    [['shop', 'create', '--name', ' '], /--name/],
    [['shop', 'create', '--name', 'x'.repeat(256)], /--name/],
    [['shop', 'create', '--name', 'A', '--plan', 'GOLD'], /GOLD.*STARTER, GROWTH, SCALE, ENTERPRISE/s],
    [['shop', 'create', '--name', 'A', '--plan', 'scale'], /--plan/],
    [['shop', 'create', '--name', 'A', '--allowance', '1', '--usage-cap', '1'], /--usage-cap/],
    [['shop', 'create', '--name', 'A', '--allowance', '-1'], /--allowance/],
    [['shop', 'create', '--name', 'A', '--allowance', '1.5'], /--allowance/],
    [['shop', 'create', '--name', 'A', '--allowance', 'none'], /--allowance/],
    [['shop', 'create', '--name', 'A', '--usage-cap', 'many'], /--usage-cap/],
    [['shop', 'update'], /id/],
    [['shop', 'update', ID, '--plan', 'GOLD'], /GOLD/],
    [['shop', 'update', ID, '--subscription', 'paused'], /paused.*active, inactive/s],
    [['shop', 'update', ID, '--usage-cap', 'none', '--allowance', 'none'], /--usage-cap/],
    [['shop', 'dangerous'], /id/],
    [['shop', 'delete', ID, '--confirm', 'A'], /'--export <file>' or '--no-export'/],
    [['shop', 'delete', ID, '--no-export'], /--confirm/],
    [['customer', 'find', '--shop', ID], /'--email <email>' or '--phone <phone>'/],
    [['customer', 'erase', '--shop', ID, '--email', 'ada@example.com'], /--reason/],
    [['customer', 'find', '--shop', ID, '--phone', '123'], /at least 5 digits/],
    [['customer', 'find', '--shop', ID, '--email', 'a@b.example', '--phone', '12345'], /cannot be used with/],
    [['shop', 'dangerous', ID, '--add', 'x'.repeat(129)], /--add/],
    [['user', 'create', '--shop', ID, '--role', 'ADMIN'], /--email/],
    [['user', 'create', '--email', 'ada@example.com', '--role', 'ADMIN'], /--shop/],
    [user, /--role/],
    [[...user, '--role', 'OWNER'], /OWNER.*ADMIN, STAFF/s],
    [['user', 'create', '--shop', ID, '--email', 'ada', '--role', 'ADMIN'], /--email/],
    [['client', 'create', '--name', 'Till'], /--shop/],
    [['client', 'create', '--shop', ID], /--name/],
    [['client', 'update'], /id/],
    [['client', 'update', ID, '--name', ''], /--name/],
    [['client', 'revoke'], /id/],
    [['client', 'replace'], /id/],
    [['client', 'replace', ID, '--name', ''], /--name/],
    [['client', 'list'], /--shop/],
    [['backup'], /file/],
    [['backup', 'one', 'two'], /argument/],
    [['restore'], /file/],
    [['restore', 'one', '--overwrite'], /--overwrite/],
    [['doctor', 'surplus'], /argument/],
    [['trigger', '--to', 'http://127.0.0.1'], /event/],
    [
      ['trigger', 'offline_repair.exploded', '--to', 'http://127.0.0.1', '--secret', 's'],
      /offline_repair\.closed/,
    ],
    [['trigger', 'offline_repair.closed', '--secret', 's'], /--to/],
    [['trigger', 'offline_repair.closed', '--to', 'http://127.0.0.1'], /--secret.*HANDBACK_WEBHOOK_SECRET/],
    [['trigger', 'offline_repair.closed', '--to', 'ftp://127.0.0.1', '--secret', 's'], /--to/],
    [['trigger', 'offline_repair.closed', '--to', 'http://a:b@127.0.0.1', '--secret', 's'], /--to/],
    [['events'], /--key.*HANDBACK_API_KEY/],
    [['events', '--key', ''], /--key/],
    [['events', '--key', 'k', '--url', 'returns.example.com'], /--url/],
    [['events', '--key', 'k', '--forward-to', 'nowhere', '--secret', 's'], /--forward-to/],
    [['events', '--key', 'k', '--forward-to', 'http://127.0.0.1:4000'], /--secret/],
  ];
  it.each(cases)('%j', async (args, about) => {
    // None of them gets as far as the settings or a database.
    const { status, stdout, stderr } = await runHere(args, { DATA_DIR: '/nonexistent', LOG_LEVEL: 'loud' });
    expect(stderr).toMatch(about);
    expect(stderr).not.toMatch(/^ +at /m);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('also as a program', async () => {
    const { status, stdout, stderr } = await run(['shop', 'list', '--colour'], { LOG_LEVEL: 'loud' });
    expect(stderr).toMatch(/--colour/);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

it.each([
  ['events', 'handback_ext_0123'],
  ['events', '--key', 'handback_ext_0123 4'],
  ['events', '--key', 'k', '--forward-to', 'http://127.0.0.1:4000', '--secret', 'handback_ext_0123\n'],
])('an unusable key or secret is not printed: %j', async (...args) => {
  const { status, stdout, stderr } = await runHere(args, {});
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^error: /);
  expect(stderr).not.toContain('0123');
});

it.each([
  ['--help', /^Usage: handback/],
  ['help', /^Usage: handback/],
  ['shop create --help', /^Usage: handback shop create/],
  ['--version', /^\d+\.\d+\.\d+\n$/],
])('%s prints on standard output, whatever the settings are', async (command, text) => {
  const { status, stdout, stderr } = await runHere(command.split(' '), { LOG_LEVEL: 'loud' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(text);
});

it.each([
  ['user create', 'read from standard input'],
  ['trigger', 'HANDBACK_WEBHOOK_SECRET'],
  ['listen', 'HANDBACK_WEBHOOK_SECRET'],
  ['events', 'HANDBACK_API_KEY'],
])(
  'the help of %s warns that a secret among the arguments is visible, and names what to use instead',
  async (command, instead) => {
    const { stdout } = await runHere([...command.split(' '), '--help'], {});
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      new RegExp(`(?=.*visible in the process list).*${instead}`),
    );
  },
);
