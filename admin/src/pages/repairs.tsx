export const RepairsPage = () => null;
