import { readdirSync, readFileSync } from 'node:fs';
import { validateWorkflow } from '@action-validator/core';

// The workflows of .github/ against the schema of GitHub's own, and the names of jobs that they need.

const FOLDER = '.github/workflows';

for (const name of readdirSync(FOLDER)) {
  const { errors } = validateWorkflow(readFileSync(`${FOLDER}/${name}`, 'utf8'));
  for (const error of errors) {
    process.stderr.write(`${FOLDER}/${name}: ${JSON.stringify(error)}\n`);
    process.exitCode = 1;
  }
}
