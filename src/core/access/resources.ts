/** What the access model needs of a group and a role: what the identity service sends has it (specification, Resources). */

type OptionalText = string | null | undefined;

export interface AccessTag {
  readonly name: string;
  readonly value: string;
}

export interface AccessMetadata {
  readonly id: string;
  readonly name: string;
  readonly description?: OptionalText;
  /** RFC 3339, as it came. */
  readonly creationTime: string;
  readonly provisioningStatus: string;
  readonly healthStatus: string;
  readonly deletionTime?: OptionalText;
}

export interface AccessSubject {
  readonly id: string;
  readonly email?: OptionalText;
  readonly issuer: string;
}

export interface AccessGroup {
  readonly metadata: AccessMetadata & {
    readonly tags: readonly AccessTag[];
    readonly createdBy?: OptionalText;
    readonly modifiedTime?: OptionalText;
    readonly modifiedBy?: OptionalText;
  };
  readonly spec: {
    readonly subjects: readonly AccessSubject[];
    readonly userIDs: readonly string[];
    /** `undefined` where the service did not send the list, which it always has to: unknown, which is not the same as none. */
    readonly serviceAccountIDs?: readonly string[] | undefined;
    readonly roleIDs?: readonly string[] | undefined;
  };
}

export interface AccessRole {
  readonly metadata: AccessMetadata;
}

/** One list as far as it was read. */
export interface AccessList<T> {
  /** `undefined` where the list could not be read: unknown, which is not the same as none. */
  readonly items: readonly T[] | undefined;
  /** Items that were sent and could not be understood. */
  readonly malformed: number;
  /** When it was read, in milliseconds since 1970. */
  readonly at: number | undefined;
  /** Why it could not be read, or not again since {@link at}. */
  readonly problem?: string;
}

/** Both lists of an organization. */
export interface AccessInput {
  readonly organization: string;
  readonly groups: AccessList<AccessGroup>;
  readonly roles: AccessList<AccessRole>;
}
