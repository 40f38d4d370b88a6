export const RepairPage = () => null;
