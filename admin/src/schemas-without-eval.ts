import { config } from 'zod';

// The page's policy forbids code made from text; schemas would try it the moment they are made. So this is loaded first.
config({ jitless: true });
