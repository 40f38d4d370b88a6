// biome-ignore lint/suspicious/noExplicitAny: the document is plain JSON on its way out
export type Json = any;
