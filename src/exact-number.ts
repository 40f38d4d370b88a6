declare global {
  interface JSON {
    /** Node has it; TypeScript's library does not know it yet. */
    rawJSON(text: string): number;
  }
}

/** JSON.stringify writes it with exactly these digits, where a double would round them. It is not a number for anything else. */
export const exactNumber = (digits: string): number => JSON.rawJSON(digits);
