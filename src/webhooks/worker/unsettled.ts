/** Deliveries whose attempt is not yet written down, by receiver: nobody reads them again until it is. */
export const createUnsettled = () => {
  const byReceiver = new Map<string, Set<string>>();
  let whenEmpty: (() => void) | null = null;

  return {
    add(clientId: string, deliveryId: string): void {
      const ids = byReceiver.get(clientId);
      if (ids) ids.add(deliveryId);
      else byReceiver.set(clientId, new Set([deliveryId]));
    },
    remove(clientId: string, deliveryId: string): void {
      const ids = byReceiver.get(clientId);
      ids?.delete(deliveryId);
      if (ids?.size === 0) byReceiver.delete(clientId);
      if (byReceiver.size === 0) whenEmpty?.();
    },
    of: (clientId: string): string[] => [...(byReceiver.get(clientId) ?? [])],
    receivers: (): string[] => [...byReceiver.keys()],
    allRemoved: (): Promise<void> =>
      byReceiver.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenEmpty = resolve;
          }),
  };
};
