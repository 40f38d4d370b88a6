import fc from 'fast-check';
import './matchers.ts';
import { SEED } from './random.ts';

// Of every test file: the matchers, and the seed of every property.
fc.configureGlobal({ seed: SEED });
