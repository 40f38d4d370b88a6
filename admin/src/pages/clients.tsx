export const ClientsPage = () => null;
