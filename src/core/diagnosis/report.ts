import { CHECKS, type CheckName } from './checks.ts';
import type { CheckOutcome, Diagnosis } from './facts.ts';
import { code, type ReportLine } from './markdown.ts';

/**
 * The diagnosis as a Markdown document for people. Contains no token, code or secret; what others have written stands as
 * code, so that it cannot link, load or look like something of ours.
 *
 * @param redact Hides the values that are known to be secret, and what looks like one: {@link Redactor.redact}.
 */
export function reportOf(diagnosis: Diagnosis, redact: (text: string) => string): string {
  const checked = (Object.keys(CHECKS) as CheckName[]).map((name) => ({
    heading: CHECKS[name].heading,
    lines: linesOf(name, diagnosis),
  }));
  const sections = [...Map.groupBy(checked, ({ heading }) => heading)].map(
    ([heading, checks]) => `## ${heading}\n\n${checks.flatMap(({ lines }) => lines.map(render)).join('\n')}`,
  );
  const date = `${new Date(diagnosis.at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const text = [
    '# Sign-in diagnosis',
    `Generated ${date}. Contains no tokens or secrets, but names your services, folders and proxies: review before sharing.`,
    `## Findings\n\n${findingsOf(checked.flatMap(({ lines }) => lines))}`,
    ...sections,
  ].join('\n\n');
  return `${redact(text)}\n`;
}

/** The lines for what was found, or the one line that says why nothing was. */
function linesOf(name: CheckName, diagnosis: Diagnosis): readonly ReportLine[] {
  // The compiler does not see that the check and the answer are of one name.
  const { label, lines } = CHECKS[name] as {
    label: string;
    lines: (value: unknown, all: Diagnosis) => readonly ReportLine[];
  };
  const answer: CheckOutcome<unknown> = diagnosis[name];
  switch (answer.kind) {
    case 'known':
      return lines(answer.value, diagnosis);
    case 'skipped':
      return [{ label, text: `not checked: ${answer.why}` }];
    case 'failed':
      return [{ label, text: 'unknown', finding: `Could not be checked: ${code(answer.problem)}` }];
  }
}

function findingsOf(lines: readonly ReportLine[]): string {
  const findings = lines.filter(({ finding }) => finding !== undefined);
  if (findings.length === 0) return 'No problems found.';
  return findings.map(({ label, finding }, index) => `${index + 1}. **${label}:** ${finding}`).join('\n');
}

function render({ label, text, finding }: ReportLine): string {
  return `- **${label}:** ${text}${finding === undefined ? '' : `\n  - **Attention:** ${finding}`}`;
}
