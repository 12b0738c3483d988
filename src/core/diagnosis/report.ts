import type { Diagnosis } from './facts.ts';
import { code, type Line, renderSection, type Section } from './markdown.ts';
import { networkSection } from './networkSection.ts';
import { servicesSection } from './servicesSection.ts';
import { sessionSection } from './sessionSection.ts';
import { addressesSection, redirectSection, versionsSection } from './setupSections.ts';

/**
 * The diagnosis as a Markdown document for people. Holds no token, code or secret; what others have written stands as
 * code, so that it cannot link, load or look like something of ours.
 *
 * @param redact Hides the values that are known to be secret, and what looks like one: {@link Redactor.redact}.
 */
export function reportOf(diagnosis: Diagnosis, redact: (text: string) => string): string {
  const sections = [
    versionsSection(diagnosis),
    addressesSection(diagnosis),
    servicesSection(diagnosis),
    redirectSection(diagnosis),
    networkSection(diagnosis),
    sessionSection(diagnosis),
    problemsSection(diagnosis),
  ];
  const date = `${new Date(diagnosis.at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const text = [
    '# Sign-in diagnosis',
    `Made ${date}. It holds no token, code or secret, but it names your services, folders and proxies: look it over before you share it.`,
    `## What to look at\n\n${findingsOf(sections)}`,
    ...sections.map(renderSection),
  ].join('\n\n');
  return `${redact(text)}\n`;
}

function findingsOf(sections: readonly Section[]): string {
  const findings = sections.flatMap(({ lines }) =>
    lines.flatMap(({ label, finding }) => (finding === undefined ? [] : [`**${label}:** ${finding}`])),
  );
  if (findings.length === 0) return 'Nothing was found that would be in the way of a sign-in.';
  return findings.map((finding, n) => `${n + 1}. ${finding}`).join('\n');
}

function problemsSection({ problems }: Diagnosis): Section {
  const title = 'Recent warnings and errors of this window';
  const none = { title, lines: [{ label: 'Log', text: 'none since this window was opened' }] };
  if (problems.kind !== 'known' || problems.value.length === 0) return none;
  const lines = problems.value.map(
    ({ at, level, message }): Line => ({
      label: `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC, ${level}`,
      text: code(message),
    }),
  );
  return { title, lines: lines.toReversed() };
}
