export declare const V8_FLAGS: string[];
export declare const ensureV8Flags: () => void;
export declare const MALLOC_SETTINGS: Record<string, string>;
