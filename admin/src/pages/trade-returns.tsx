export const TradeReturnsPage = () => null;
