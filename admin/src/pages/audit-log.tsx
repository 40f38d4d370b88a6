export const AuditLogPage = () => null;
