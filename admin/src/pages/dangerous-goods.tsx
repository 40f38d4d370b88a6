export const DangerousGoodsPage = () => null;
