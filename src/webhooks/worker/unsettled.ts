/** Deliveries whose attempt is not yet written down, by receiver: nobody reads them again until it is. */
export const createUnsettled = () => {
  const byReceiver = new Map<string, Set<string>>();
  const receiverOf = new Map<string, string>();
  let whenEmpty: (() => void) | null = null;

  const add = (clientId: string, deliveryId: string): void => {
    receiverOf.set(deliveryId, clientId);
    const ids = byReceiver.get(clientId);
    if (ids) ids.add(deliveryId);
    else byReceiver.set(clientId, new Set([deliveryId]));
  };
  const strike = (clientId: string, deliveryId: string): void => {
    const ids = byReceiver.get(clientId);
    ids?.delete(deliveryId);
    if (ids?.size === 0) byReceiver.delete(clientId);
  };

  return {
    add,
    /** Whether a delivery of this client is being sent already, to one that the client has replaced. It is the client's from now on. */
    claim(clientId: string, deliveryId: string): boolean {
      const before = receiverOf.get(deliveryId);
      if (before === undefined) return false;
      strike(before, deliveryId);
      add(clientId, deliveryId);
      return true;
    },
    /** Returns whose delivery it is. */
    remove(clientId: string, deliveryId: string): string {
      const owner = receiverOf.get(deliveryId) ?? clientId;
      receiverOf.delete(deliveryId);
      strike(owner, deliveryId);
      if (byReceiver.size === 0) whenEmpty?.();
      return owner;
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
