import type { HealthStatus, ProvisioningStatus, Role } from './resources.ts';

export const ROLE_IDS = {
  administrator: '20000000-1d0e-4000-8000-000000000001',
  user: '20000000-1d0e-4000-8000-000000000002',
  reader: '20000000-1d0e-4000-8000-000000000003',
  billingViewer: '20000000-1d0e-4000-8000-000000000004',
  clusterOperator: '20000000-1d0e-4000-8000-000000000005',
  networkOperator: '20000000-1d0e-4000-8000-000000000006',
  secretsAuditor: '20000000-1d0e-4000-8000-000000000007',
  supportEngineer: '20000000-1d0e-4000-8000-000000000008',
  legacyOperator: '20000000-1d0e-4000-8000-000000000009',
  /** Held by groups, absent from the list: protected, and so not to be granted by the organization (what servers of this kind do). */
  platformManager: '20000000-1d0e-4000-8000-0000000000ff',
} as const;

export type RoleName = keyof typeof ROLE_IDS;

function role(
  key: RoleName,
  name: string,
  description: string,
  status: readonly [ProvisioningStatus, HealthStatus] = ['provisioned', 'healthy'],
): Role {
  return {
    metadata: {
      id: ROLE_IDS[key],
      name,
      description,
      creationTime: '2024-02-05T08:00:00Z',
      provisioningStatus: status[0],
      healthStatus: status[1],
    },
  };
}

/** Both status fields take every value of the specification at least once; `legacy-operator` is held by nobody. */
export const ROLES: Role[] = [
  role('administrator', 'administrator', 'Everything within the organization, including groups and roles.'),
  role('user', 'user', 'Creates and changes what belongs to its projects.'),
  role('reader', 'reader', 'Reads everything within its projects.'),
  role('billingViewer', 'billing-viewer', 'Reads invoices, quotas and consumption.'),
  role('clusterOperator', 'cluster-operator', 'Creates, scales and upgrades Kubernetes clusters.', [
    'provisioned',
    'degraded',
  ]),
  role('networkOperator', 'network-operator', 'Creates networks, subnets, routers and load balancers.', [
    'provisioning',
    'unknown',
  ]),
  role('secretsAuditor', 'secrets-auditor', 'Reads who used which secret, never the secret.', ['error', 'error']),
  role('supportEngineer', 'support-engineer', 'Opens support tickets and reads their history.', ['unknown', 'unknown']),
  role('legacyOperator', 'legacy-operator', 'The operator role of the first generation; being removed.', [
    'deprovisioning',
    'degraded',
  ]),
];
