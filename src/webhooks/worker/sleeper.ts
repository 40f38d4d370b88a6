/** Rests for a time or until woken; a call that comes while nobody rests is not lost. */
export const createSleeper = () => {
  let called = false;
  let end: (() => void) | null = null;
  return {
    wake(): void {
      called = true;
      end?.();
    },
    async rest(ms: number): Promise<void> {
      if (!called) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = null;
      }
      called = false;
    },
  };
};
