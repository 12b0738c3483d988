import * as l10n from '@vscode/l10n';
import type { AccessModel, RoleEntry } from '../access/model.ts';
import { oneLine } from '../base/text.ts';
import { ACCESS_FILE_FORMAT } from './accessFile.ts';
import { checkAccess, type RuleResult } from './checkAccess.ts';
import { duplicatesEvidence } from './people.ts';
import { Resolver, roleReference } from './references.ts';
import { yamlScalar } from './ruleEvaluation.ts';

/** The most roles that are searched for two that nobody has both of. */
const MAX_PAIRED = 20;

/**
 * A new file of access rules: rules that hold for the reading, and as comments those that do not hold yet. So it has no
 * findings, and the first one is news.
 */
export function newAccessFile(model: AccessModel, now: number): string {
  const head = headOf(model);
  const judge = (rule: string): RuleResult | undefined =>
    checkAccess(`${head}rules:\n${rule}`, model, { now }).rules[0];
  const rules = [
    limitRule(model, judge),
    separationRule(model, judge),
    rule('no-unlisted-roles', 'no-unlisted-roles', [], l10n.t('Groups have only roles that the service lists.')),
    rule('no-empty-groups', 'no-empty-groups', [], l10n.t('Every group has members.')),
  ].filter((text) => text !== '');
  const holding = rules.filter((text) => judge(text)?.status === 'pass');
  // A file without any rule is undetermined.
  const active = holding.length > 0 ? holding : rules.slice(-1);
  const others = rules.filter((text) => !active.includes(text));
  return [
    comment(
      l10n.t(
        'Who can have access in this organization. Rolecall checks this file when you save it, and changes nothing in your cloud.',
      ),
    ),
    head,
    'rules:\n',
    active.join('\n'),
    ...(others.length > 0
      ? [`\n  ${comment(l10n.t('These rules would have findings today:'))}`, others.map(commented).join('\n')]
      : []),
    '\n',
    comment(l10n.t('Findings that are accepted for a limited time:')),
    commented(
      'waivers:\n  - { rule: no-empty-groups, for: "group:NAME", owner: you@example.com, reason: TICKET-1, until: 2030-12-31 }\n',
    ),
    '\n',
    comment(
      l10n.t(
        '"Declare Current State" adds groups with their roles and members. Any difference from them is a finding.',
      ),
    ),
  ].join('');
}

function headOf(model: AccessModel): string {
  const { equal, all } = duplicatesEvidence(model);
  const isMirrored = all > 0 && equal === all;
  return [
    `format: ${ACCESS_FILE_FORMAT}\nversion: 1\norganization: ${yamlScalar(model.organization)}\n`,
    ...(isMirrored
      ? [
          comment(l10n.t('User IDs repeat the subjects of their group: each person counts once.')),
          'identity: { userIds: duplicates }\n',
        ]
      : []),
  ].join('');
}

type Judge = (rule: string) => RuleResult | undefined;

/** The limit is the current number of holders of an important role. */
function limitRule(model: AccessModel, judge: Judge): string {
  const roles = heldRoles(model);
  const role = roles.find((one) => /admin|owner|root/i.test(one.role?.metadata.name ?? '')) ?? roles[0];
  if (role === undefined) return '';
  const limited = (max: number) => {
    const name = roleReference(new Resolver(model), role);
    const about = l10n.t('No more people have {0} than today.', name);
    return rule('few-holders', 'max-holders', [`role: ${yamlScalar(name)}`, `max: ${max}`], about);
  };
  const most = judge(limited(0))?.findings[0]?.range?.most;
  return most === undefined ? '' : limited(most);
}

/** Two roles that nobody has both of; if there are none, two that somebody has. */
function separationRule(model: AccessModel, judge: Judge): string {
  const resolver = new Resolver(model);
  const [first, ...others] = heldRoles(model)
    .slice(0, MAX_PAIRED)
    .map((role) => roleReference(resolver, role));
  if (first === undefined) return '';
  const pairs = others.map((other) => {
    const about = l10n.t('Nobody has both {0} and {1}.', first, other);
    return rule('kept-apart', 'separation-of-duties', [`roles: [${yamlScalar(first)}, ${yamlScalar(other)}]`], about);
  });
  return pairs.find((pair) => judge(pair)?.status === 'pass') ?? pairs[0] ?? '';
}

function heldRoles(model: AccessModel): readonly RoleEntry[] {
  return model.roles.filter(
    ({ role, groups }) => role !== undefined && groups.some(({ members }) => members.length > 0),
  );
}

function rule(id: string, kind: string, keys: readonly string[], about: string): string {
  const lines = [`kind: ${kind}`, ...keys].map((line) => `    ${line}\n`);
  return `  ${comment(about)}  - id: ${id}\n${lines.join('')}`;
}

/** Keeps names of a server on one line, whatever they contain. */
function comment(text: string): string {
  return `# ${oneLine(text)}\n`;
}

/** As comments, written like the editor does: in the column of the first line. */
function commented(text: string): string {
  const [indentation = ''] = /^ */.exec(text) ?? [];
  return text.replace(new RegExp(`^${indentation}(?=[^#\\n])`, 'gm'), `${indentation}# `);
}
