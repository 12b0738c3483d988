import type { Connection } from '../../../../src/core/base/connection.ts';
import { ORIGIN } from '../base/mockService.ts';

export const CONNECTION: Connection = {
  id: 'service',
  label: 'identity.example.com',
  identityUrl: ORIGIN,
  inferenceUrl: 'https://inference.example.com',
  clientId: '4b2f0c1e-7a5d-4c3b-9e8f-000000000001',
  clientAuthentication: 'client_secret_post',
  redirectUri: 'http://127.0.0.1:18155/callback',
  scope: 'openid email',
};
