import type { SealedFor, SecretBox } from '../service/secrets.ts';

export const webhookSecretPlace = (clientId: string): SealedFor => ({
  table: 'api_clients',
  column: 'webhook_secret',
  id: clientId,
});

export const sealWebhookSecret = (secrets: SecretBox, clientId: string, secret: string): string =>
  secrets.seal(secret, webhookSecretPlace(clientId));

/** Throws when no key of the installation opens the secret, or when it belongs to another client. */
export const openWebhookSecret = (secrets: SecretBox, clientId: string, sealed: string): string =>
  secrets.open(sealed, webhookSecretPlace(clientId));
