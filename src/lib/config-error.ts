/** A setting, or the database behind one, cannot be used. The message is the one line that the operator sees. */
export class ConfigError extends Error {}
