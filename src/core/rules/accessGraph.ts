import * as l10n from '@vscode/l10n';
import { gapText, kindName } from '../access/descriptions.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../access/model.ts';
import { documentMarkdown, joinLines, type Line, markdownBlock, notice, table } from '../access/pageDocument.ts';
import { groupName, principalName, roleName, shortId } from '../access/queries.ts';
import { oneLine } from '../base/text.ts';

/*
 * Access as a picture: who is in which group, and which roles it has, as Mermaid in Markdown. The editor draws it without scripts
 * (`securityLevel: strict`), but Mermaid itself takes parts of a label for markup, a directive or an icon: so labels are written as
 * character references alone.
 */

/** Mermaid draws no more than 500 edges and 50,000 characters, and no diagram can raise that. */
const MAX_EDGES = 400;
const MAX_CHARACTERS = 45_000;

export type GraphSubject =
  | { readonly kind: 'principal'; readonly entry: Principal }
  | { readonly kind: 'group'; readonly entry: GroupEntry }
  | { readonly kind: 'role'; readonly entry: RoleEntry };

type Node = Principal | GroupEntry | RoleEntry;

/** A picture of what leads to somebody's roles, to a role or through a group, as a Markdown document with the same as a table. */
export function accessGraph(model: AccessModel, subject: GraphSubject, origin: string): string {
  const edges = edgesOf(subject);
  const { text, drawn } = drawGraph(subject.entry, edges);
  const groups = groupsOf(subject);
  const head = documentMarkdown({
    title: l10n.t('Access graph of {0}', nodeName(subject.entry)),
    about: [`${model.organization} · ${origin}`],
    blocks: [
      ...model.gaps.map((gap) => notice(l10n.t('Incomplete: {0}', gapText(gap)))),
      ...(drawn < edges.length
        ? [
            notice(
              l10n.t(
                'Too large to draw: {0} of {1} connections are shown. The table lists all of them.',
                drawn,
                edges.length,
              ),
            ),
          ]
        : []),
    ],
  });
  const rows = groups.map((group): Line<never>[] => [
    [groupName(group)],
    joinLines<never>(membersIn(subject, group).map((one) => [`${principalName(one)} (${kindName(one.kind)})`])),
    joinLines<never>(rolesIn(subject, group).map((one) => [roleName(one)])),
  ]);
  const none = model.groupsKnown ? l10n.t('No groups.') : l10n.t('Unknown: the groups could not be read.');
  const list = markdownBlock(table([l10n.t('Group'), l10n.t('Members'), l10n.t('Roles')], rows, none));
  return [head, '```mermaid', text, '```', '', ...list].join('\n');
}

interface Edge {
  readonly from: Node;
  readonly to: Node;
}

function groupsOf({ kind, entry }: GraphSubject): readonly GroupEntry[] {
  return kind === 'group' ? [entry] : entry.groups;
}

function membersIn({ kind, entry }: GraphSubject, group: GroupEntry): readonly Principal[] {
  return kind === 'principal' ? [entry] : group.members;
}

function rolesIn({ kind, entry }: GraphSubject, group: GroupEntry): readonly RoleEntry[] {
  return kind === 'role' ? [entry] : group.roles;
}

/** Group by group, so that a graph that is cut shows whole groups first. */
function edgesOf(subject: GraphSubject): readonly Edge[] {
  return groupsOf(subject).flatMap((group) => [
    ...membersIn(subject, group).map((from) => ({ from, to: group })),
    ...rolesIn(subject, group).map((to) => ({ from: group, to })),
  ]);
}

function drawGraph(subject: Node, edges: readonly Edge[]): { readonly text: string; readonly drawn: number } {
  const ids = new Map<Node, string>();
  const lines = ['flowchart LR'];
  let length = lines.join().length;
  const declared = (node: Node): readonly string[] => {
    if (ids.has(node)) return [];
    ids.set(node, `n${ids.size}`);
    return [`  ${ids.get(node)}${shapeOf(node)}`];
  };
  const add = (more: readonly string[]) => {
    lines.push(...more);
    length += more.reduce((sum, line) => sum + line.length + 1, 0);
  };
  add(declared(subject));
  let drawn = 0;
  for (const { from, to } of edges) {
    if (drawn === MAX_EDGES) break;
    const before = new Map(ids);
    const more = [...declared(from), ...declared(to)];
    more.push(`  ${ids.get(from)} --> ${ids.get(to)}`);
    if (length + more.reduce((sum, line) => sum + line.length + 1, 0) > MAX_CHARACTERS) {
      for (const node of ids.keys()) if (!before.has(node)) ids.delete(node);
      break;
    }
    add(more);
    drawn += 1;
  }
  return { text: lines.join('\n'), drawn };
}

/** Round for members, square for groups, six-sided for roles: told by more than color. */
function shapeOf(node: Node): string {
  const label = `"${mermaidLabel(nodeName(node))}"`;
  if ('group' in node) return `[${label}]`;
  return 'kind' in node ? `([${label}])` : `{{${label}}}`;
}

/** Both ends of long IDs: the table has the whole ones. */
function nodeName(node: Node): string {
  if ('group' in node) return groupName(node);
  return 'kind' in node ? shortId(principalName(node)) : shortId(roleName(node));
}

/**
 * A text that Mermaid shows as exactly these characters: character references for all but letters, digits and spaces. U+FB02 and U+00B6
 * are Mermaid's own marks for references, and written as code points.
 */
export function mermaidLabel(text: string): string {
  return oneLine(text)
    .replace(/[\ufb02\u00b6]/g, (mark) => `\\u{${mark.charCodeAt(0).toString(16)}}`)
    .replace(/[^A-Za-z0-9 ]/gu, (character) => `#${character.codePointAt(0)};`);
}
