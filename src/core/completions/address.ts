import { RolecallError } from '../base/errors.ts';

/** Where the requests go; the part of a connection that this room needs. */
export interface InferenceConnection {
  /** `{inference_url}` of the specification. */
  readonly inferenceUrl: string;
}

/** @throws RolecallError `configuration` when the address cannot be used. */
export function endpoint({ inferenceUrl }: InferenceConnection, path: '/v1/chat/completions' | '/v1/models'): string {
  const text = `${inferenceUrl.replace(/\/+$/, '')}${path}`;
  // Without its slashes `https://` would take the path for a host, and the token would go there.
  if (!URL.canParse(inferenceUrl) || !URL.canParse(text)) {
    throw new RolecallError(
      'configuration',
      'The address of the inference service is not an address such as https://host.',
    );
  }
  return text;
}
