/** An `import` would read every export of the module, and so load Node's own undici: 7 % of a start. */
export const { IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
