import * as l10n from '@vscode/l10n';
import { memberName } from '../access/descriptions.ts';
import type { GroupEntry, RoleEntry } from '../access/model.ts';
import { groupName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import type { AccessFile } from './accessFile.ts';
import { DECLARED } from './drift.ts';
import { type Finding, groupsOf, principalsOf, rolesOf } from './findings.ts';
import { groupText, listText, rolesText } from './kinds/kind.ts';
import { itemsOf, textOf, type Value } from './schema.ts';

/** A place that explains a finding, with a description. */
export interface RelatedLocation {
  readonly place: TextRange;
  /** Localized, without a full stop. */
  readonly text: string;
}

/** The most groups that a finding shows; the report has them all. */
const MAX_GROUPS = 20;

/**
 * The groups that lead to a finding, with the roles that they give and to whom: where the file declares them; else
 * where the rule names the role, or at the rule.
 */
export function relatedLocations(finding: Finding, file: AccessFile): readonly RelatedLocation[] {
  const rule = finding.rule === DECLARED ? undefined : file.rules.find(({ id }) => id === finding.rule)?.value;
  return groupsOf(finding)
    .slice(0, MAX_GROUPS)
    .flatMap((group): readonly RelatedLocation[] => {
      const declared = declarationOf(group, file);
      if (declared) return [{ place: declared, text: l10n.t('{0} is declared here', oneLine(groupName(group))) }];
      const roles = rolesGiven(finding, group);
      const text = rule && textOfGroup(finding, group, roles);
      const place = rule && roles.map((role) => roleIn(rule, role)).find(Boolean);
      return text === undefined ? [] : [{ place: place ?? finding.place, text }];
    });
}

function textOfGroup(finding: Finding, group: GroupEntry, roles: readonly RoleEntry[]): string | undefined {
  const about = principalsOf(finding);
  const members = group.members.filter((member) => about.length === 0 || about.includes(member));
  const names = listText(members, (member) => oneLine(memberName(member)));
  if (roles.length > 0)
    return names === ''
      ? l10n.t('{0} gives {1}', groupText(group), rolesText(roles))
      : l10n.t('{0} gives {1} to {2}', groupText(group), rolesText(roles), names);
  return about.length > 0 ? l10n.t('{0} has the member {1}', groupText(group), names) : undefined;
}

/** The roles of a group that the finding is about. */
function rolesGiven(finding: Finding, group: GroupEntry): readonly RoleEntry[] {
  const roles = new Set(rolesOf(finding));
  const ids = new Set(finding.subjects.flatMap((subject) => (subject.kind === 'aspect' ? [subject.name] : [])));
  return group.roles.filter((role) => roles.has(role) || ids.has(role.id));
}

function declarationOf({ group }: GroupEntry, { declared }: AccessFile): TextRange | undefined {
  const { id, name } = group.metadata;
  return declared?.groups.find((item) =>
    item.fields?.has('id') ? textOf(item, 'id') === id : textOf(item, 'name') === name,
  );
}

function roleIn(rule: Value, { id, role }: RoleEntry): TextRange | undefined {
  const singleRole = rule.fields?.get('role')?.value;
  return [...(singleRole ? [singleRole] : []), ...itemsOf(rule, 'roles')].find(
    ({ text }) => text === role?.metadata.name || text === `id:${id}`,
  );
}
