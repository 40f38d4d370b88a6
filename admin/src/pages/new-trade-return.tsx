export const NewTradeReturnPage = () => null;
