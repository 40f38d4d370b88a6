import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before the service: every resolver asks the test's name server instead of the machine's.

const SystemResolver = dns.Resolver;
dns.Resolver = class extends SystemResolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.TEST_NAME_SERVER]);
  }
};
syncBuiltinESMExports();
