/* The resources of the identity service. See the identity specification, "Resources and their fields". */

/** See the identity specification, "States and transitions". */
export type ProvisioningStatus = 'unknown' | 'provisioning' | 'provisioned' | 'deprovisioning' | 'error';
export type HealthStatus = 'unknown' | 'healthy' | 'degraded' | 'error';

export interface Tag {
  name: string;
  value: string;
}

/** Times are RFC 3339 date-times in UTC. */
export interface Metadata {
  id: string;
  name: string;
  description?: string;
  tags?: Tag[];
  creationTime: string;
  createdBy?: string;
  modifiedTime?: string;
  modifiedBy?: string;
  deletionTime?: string;
  provisioningStatus: ProvisioningStatus;
  healthStatus: HealthStatus;
}

export interface Subject {
  id: string;
  email?: string;
  issuer: string;
}

export interface Group {
  metadata: Metadata & { organizationId: string };
  spec: {
    subjects?: Subject[];
    userIDs?: string[];
    serviceAccountIDs: string[];
    roleIDs: string[];
  };
}

export interface Role {
  metadata: Metadata;
}

/** An organization as the sandbox stores it. The lists are sorted by id, which is the order of the service. */
export interface Organization {
  id: string;
  name: string;
  description: string;
  creationTime: string;
  groups: Group[];
  roles: Role[];
}

/** The pattern that every resource name must match. See the identity specification, "Resource metadata". */
export const NAME_PATTERN = /^[0-9A-Za-z](?:[0-9A-Za-z-_.]{0,61}[0-9A-Za-z])?$/;
