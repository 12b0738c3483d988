import { SERVICE_ACCOUNTS, USERS, type UserName } from './meridianPeople.ts';
import { ROLE_IDS, ROLES, type RoleName } from './meridianRoles.ts';
import type { Group, HealthStatus, Metadata, Organization, ProvisioningStatus, Tag } from './resources.ts';

const ID = 'meridian';

interface Outline {
  name: string;
  description?: string;
  tags?: Record<string, string>;
  /** Who is in the group: subjects and user ids; absent leaves both members out of the answer. */
  users?: readonly UserName[];
  accounts?: readonly (keyof typeof SERVICE_ACCOUNTS)[];
  roles?: readonly RoleName[];
  status?: readonly [ProvisioningStatus, HealthStatus];
  created?: string;
  modified?: string;
  deleted?: string;
  /** No `createdBy`, as for what the platform itself created. */
  byPlatform?: boolean;
}

function metadata(number: number, outline: Outline): Metadata & { organizationId: string } {
  const [provisioningStatus, healthStatus] = outline.status ?? ['provisioned', 'healthy'];
  return {
    id: `90000000-6e0c-4000-8000-${String(number).padStart(12, '0')}`,
    name: outline.name,
    ...(outline.description === undefined ? {} : { description: outline.description }),
    ...(outline.tags === undefined ? {} : { tags: tags(outline.tags) }),
    creationTime: outline.created ?? '2025-03-10T09:24:00Z',
    ...(outline.byPlatform ? {} : { createdBy: 'ada.moreau@meridian.example' }),
    ...(outline.modified === undefined
      ? {}
      : { modifiedTime: outline.modified, modifiedBy: 'ines.carvalho@meridian.example' }),
    ...(outline.deleted === undefined ? {} : { deletionTime: outline.deleted }),
    provisioningStatus,
    healthStatus,
    organizationId: ID,
  };
}

function tags(pairs: Record<string, string>): Tag[] {
  return Object.entries(pairs).map(([name, value]) => ({ name, value }));
}

function group(number: number, outline: Outline): Group {
  const users = outline.users?.map((name) => USERS[name]);
  return {
    metadata: metadata(number, outline),
    spec: {
      ...(users === undefined
        ? {}
        : { subjects: users.map((user) => user.subject), userIDs: users.map((user) => user.userId) }),
      serviceAccountIDs: (outline.accounts ?? []).map((name) => SERVICE_ACCOUNTS[name]),
      roleIDs: (outline.roles ?? []).map((name) => ROLE_IDS[name]),
    },
  };
}

const GROUPS: Outline[] = [
  {
    name: 'administrators',
    description: 'Run the organization: people, groups, quotas.',
    tags: { team: 'platform', criticality: 'high' },
    users: ['ada', 'ines'],
    roles: ['administrator'],
    created: '2024-02-05T08:00:00Z',
    modified: '2026-01-14T16:40:12Z',
  },
  {
    name: 'platform-engineers',
    description: 'Build and run the clusters every product team lives on.',
    tags: { team: 'platform', 'cost-centre': '4100' },
    users: ['dora', 'emil', 'hana', 'jonas'],
    accounts: ['terraform', 'ci'],
    roles: ['clusterOperator', 'networkOperator', 'user', 'platformManager'],
    modified: '2026-02-02T11:05:47Z',
  },
  {
    name: 'site-reliability',
    description: 'On call around the clock.',
    tags: { team: 'platform', rota: 'follow-the-sun' },
    users: ['emil', 'goran', 'kira'],
    accounts: ['monitoring', 'backup'],
    roles: ['clusterOperator', 'supportEngineer', 'reader'],
    status: ['provisioned', 'degraded'],
  },
  {
    name: 'network-operations',
    description: 'Networks, routers and load balancers.',
    users: ['hana', 'goran'],
    roles: ['networkOperator', 'reader'],
    status: ['provisioning', 'unknown'],
    created: '2026-03-01T07:30:00Z',
  },
  {
    name: 'payments-developers',
    description: 'The payments product team.',
    tags: { team: 'payments', environment: 'production' },
    users: ['ben', 'fatou'],
    accounts: ['ci'],
    roles: ['user'],
  },
  {
    name: 'storefront-developers',
    description: 'The storefront product team.',
    tags: { team: 'storefront', environment: 'staging' },
    users: ['ben', 'kira'],
    roles: ['user', 'reader'],
  },
  {
    name: 'data-science',
    description: 'Notebooks, training jobs and the model registry.',
    tags: { team: 'data', gpu: '' },
    users: ['fatou', 'jonas'],
    roles: ['user'],
    status: ['error', 'error'],
    modified: '2026-02-27T21:14:03Z',
  },
  {
    name: 'finance',
    description: 'Invoices and quotas; nothing that runs.',
    users: ['ines'],
    roles: ['billingViewer'],
  },
  {
    name: 'security-auditors',
    description: 'Read everything, change nothing.',
    users: ['dora'],
    roles: ['reader', 'secretsAuditor'],
    status: ['unknown', 'unknown'],
  },
  {
    name: 'automation',
    description: 'Service accounts only: pipelines, backups, monitoring.',
    users: [],
    accounts: ['ci', 'backup', 'monitoring', 'terraform'],
    roles: ['user', 'clusterOperator'],
  },
  // Only what the specification requires.
  { name: 'break-glass', byPlatform: true, created: '2024-02-05T08:00:01Z' },
  {
    name: 'Contractors_2025.Q4',
    description: 'Access ended with the year; being removed.',
    users: ['jonas', 'kira'],
    roles: ['reader', 'platformManager'],
    status: ['deprovisioning', 'unknown'],
    deleted: '2026-01-02T00:00:00Z',
  },
];

/**
 * A company of ten people as it would really look. Together its groups show every member and every status of the
 * specification: absent optional members, subjects with and without an e-mail address, an empty list of users, a role id
 * that no role in the list has, a group being deleted.
 */
export const MERIDIAN: Organization = {
  id: ID,
  name: 'Meridian',
  description: 'A company of ten people, three product teams and one platform.',
  creationTime: '2024-02-05T08:00:00Z',
  groups: GROUPS.map((outline, index) => group(index + 1, outline)),
  roles: ROLES,
};
