export const PlanPage = () => null;
