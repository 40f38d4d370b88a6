/** The error of a setting, or the database of a setting, that cannot be used. The operator sees its message, which is one line. */
export class ConfigError extends Error {}
