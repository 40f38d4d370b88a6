export const NewRepairPage = () => null;
