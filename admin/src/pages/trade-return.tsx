export const TradeReturnPage = () => null;
