import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { Connection } from '../../core/base/connection.ts';
import { RolecallError } from '../../core/base/errors.ts';
import { type ConfiguredModel, isConfiguredModel } from '../settings.ts';

const loopbackUrl = z.string().check(z.regex(/^http:\/\/127\.0\.0\.1:\d+(\/|$)/));

const descriptorSchema = z.object({
  rolecallSandbox: z.literal(1),
  identity: loopbackUrl,
  inference: loopbackUrl,
  clients: z.object({ loopback: z.object({ id: z.string(), secret: z.string(), redirectUri: loopbackUrl }) }),
  organizations: z.array(z.string()),
  models: z.array(z.custom<ConfiguredModel>(isConfiguredModel)),
  prompts: z.array(z.string()),
  lifeline: z.optional(z.int().check(z.minimum(1), z.maximum(65_535))),
});

/** The line that the sandbox prints when it is ready: where it listens, and as which client to sign in. */
export type SandboxDescriptor = z.infer<typeof descriptorSchema>;

/** @throws RolecallError `protocol` when the line is not the sandbox's; only loopback addresses are accepted. */
export function readDescriptor(line: string): SandboxDescriptor {
  try {
    return z.parse(descriptorSchema, JSON.parse(line));
  } catch (cause) {
    throw new RolecallError('protocol', vscode.l10n.t('The sandbox started but did not report its addresses.'), {
      cause,
    });
  }
}

export function sandboxConnection(descriptor: SandboxDescriptor): Connection {
  const { loopback } = descriptor.clients;
  return {
    id: 'sandbox',
    label: vscode.l10n.t('the sandbox'),
    identityUrl: descriptor.identity,
    inferenceUrl: descriptor.inference,
    clientId: loopback.id,
    clientAuthentication: 'client_secret_post',
    redirectUri: loopback.redirectUri,
    scope: 'openid email profile',
  };
}
