export const OverviewPage = () => <p>…</p>;
