import { PEOPLE } from './people.ts';
import type {
  Group,
  HealthStatus,
  Metadata,
  Organization,
  ProvisioningStatus,
  Role,
  Subject,
  Tag,
} from './resources.ts';

const ID = 'meridian';

/**
 * A user of the hand-written organization. Groups list each person twice, which the specification allows: as a subject
 * (with the id and, if known, the email address from the issuer) and as an organization user (`userIDs`).
 */
interface User {
  userId: string;
  subject: Subject;
}

const COMPANY = 'https://accounts.meridian.example';
const PARTNER = 'https://login.partner.example/realms/main';

function user(number: number, id: string, email?: string, issuer = COMPANY): User {
  const userId = `7e1c0000-5a5e-4000-8000-${String(number).padStart(12, '0')}`;
  return { userId, subject: email === undefined ? { id, issuer } : { id, email, issuer } };
}

const [ada, ben] = PEOPLE;

const USERS = {
  ada: user(1, ada?.id ?? '', ada?.email),
  ben: user(2, ben?.id ?? '', ben?.email),
  dora: user(3, '1b8f2c70-dora', 'dora.haddad@meridian.example'),
  emil: user(4, '1b8f2c70-emil', 'emil.novak@meridian.example'),
  fatou: user(5, '1b8f2c70-fatou', 'fatou.diallo@meridian.example'),
  goran: user(6, '1b8f2c70-goran', 'goran.petrov@meridian.example'),
  hana: user(7, '1b8f2c70-hana', 'hana.sato@meridian.example'),
  ines: user(8, '1b8f2c70-ines', 'ines.carvalho@meridian.example'),
  // The issuer of the partner does not provide email addresses.
  jonas: user(9, 'auth0|64b7f0d2a1', undefined, PARTNER),
  kira: user(10, 'auth0|64b7f0d2b2', undefined, PARTNER),
} as const;

type UserName = keyof typeof USERS;

const SERVICE_ACCOUNTS = {
  ci: '5eac0000-acc0-4000-8000-000000000001',
  backup: '5eac0000-acc0-4000-8000-000000000002',
  monitoring: '5eac0000-acc0-4000-8000-000000000003',
  terraform: '5eac0000-acc0-4000-8000-000000000004',
} as const;

const ROLE_IDS = {
  administrator: '20000000-1d0e-4000-8000-000000000001',
  user: '20000000-1d0e-4000-8000-000000000002',
  reader: '20000000-1d0e-4000-8000-000000000003',
  billingViewer: '20000000-1d0e-4000-8000-000000000004',
  clusterOperator: '20000000-1d0e-4000-8000-000000000005',
  networkOperator: '20000000-1d0e-4000-8000-000000000006',
  secretsAuditor: '20000000-1d0e-4000-8000-000000000007',
  supportEngineer: '20000000-1d0e-4000-8000-000000000008',
  legacyOperator: '20000000-1d0e-4000-8000-000000000009',
  /**
   * Granted by groups but not listed: a protected role, which the organization cannot grant (as in comparable
   * services).
   */
  platformManager: '20000000-1d0e-4000-8000-0000000000ff',
} as const;

type RoleName = keyof typeof ROLE_IDS;

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

/** Each value of both status fields occurs at least once. `legacy-operator` has no members. */
const ROLES: Role[] = [
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

interface Outline {
  name: string;
  description?: string;
  tags?: Record<string, string>;
  /** The members, listed as subjects and as user ids. If undefined, the answer has neither list. */
  users?: readonly UserName[];
  accounts?: readonly (keyof typeof SERVICE_ACCOUNTS)[];
  roles?: readonly RoleName[];
  status?: readonly [ProvisioningStatus, HealthStatus];
  created?: string;
  modified?: string;
  deleted?: string;
  /** Omits `createdBy`, as for resources that the platform itself created. */
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
  // Only the required fields.
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
 * A realistic company of ten people. Together, its groups cover every field and status of the specification, including
 * missing optional fields, subjects with and without an email address, an empty list of users, the id of a role that is
 * not listed, and a group that is being deleted.
 */
export const MERIDIAN: Organization = {
  id: ID,
  name: 'Meridian',
  description: 'A company of ten people, three product teams and one platform.',
  creationTime: '2024-02-05T08:00:00Z',
  groups: GROUPS.map((outline, index) => group(index + 1, outline)),
  roles: ROLES,
};
