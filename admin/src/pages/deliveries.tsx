export const DeliveriesPage = () => null;
