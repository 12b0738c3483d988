import { RolecallError } from '../../base/errors.ts';

export type ServiceName = 'identity' | 'inference';

interface Operation {
  readonly service: ServiceName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

/** Everything that a window requests for a program: what the clients of both services request, and no other address. */
export const operations = {
  organizations: { service: 'identity', method: 'GET', path: '/api/v1/organizations' },
  groups: { service: 'identity', method: 'GET', path: '/api/v1/organizations/{organization}/groups' },
  roles: { service: 'identity', method: 'GET', path: '/api/v1/organizations/{organization}/roles' },
  models: { service: 'inference', method: 'GET', path: '/v1/models' },
  completions: { service: 'inference', method: 'POST', path: '/v1/chat/completions' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;
export const operationNames = Object.keys(operations) as OperationName[];

const PLACE = '{organization}';

/** The path of an operation. @throws RolecallError `invalidRequest` for an organization that is not one path segment. */
export function pathOf(name: OperationName, organization: string | undefined): string {
  const { path } = operations[name];
  if (!path.includes(PLACE)) return path;
  if (organization === undefined || ['', '.', '..'].includes(organization)) {
    throw new RolecallError('invalidRequest', 'The operation needs the ID of an organization.');
  }
  return path.replace(PLACE, () => encodeURIComponent(organization));
}

/** Which operation a request is; the other direction of {@link pathOf}. */
export function operationOf(
  service: ServiceName,
  method: string,
  path: string,
): { readonly name: OperationName; readonly organization?: string } | undefined {
  for (const name of operationNames) {
    const operation = operations[name];
    if (operation.service !== service || operation.method !== method) continue;
    const [before, after] = operation.path.split(PLACE);
    if (after === undefined && path === before) return { name };
    const segment = path.slice(before?.length, path.length - (after?.length ?? 0));
    if (after !== undefined && path === before + segment + after && segment !== '' && !segment.includes('/')) {
      return { name, organization: decodeURIComponent(segment) };
    }
  }
  return undefined;
}
