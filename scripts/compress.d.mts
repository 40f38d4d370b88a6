export declare const compress: (file: string, options?: { keep?: boolean }) => void;
