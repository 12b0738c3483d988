import { adviceOn } from './errorCodes.ts';
import type { Diagnosis, Discovery, IdentityFact, Probe } from './facts.ts';
import { linesFor } from './gathered.ts';
import { code, durationOf, type Line, type Section } from './markdown.ts';

/** Sessions and identity tokens bear a minute of difference; no more is expected of a machine that asks for the time. */
const MAX_SKEW_MS = 60_000;

export function servicesSection({ identity, inference }: Diagnosis): Section {
  return {
    title: 'Services, asked without a token',
    lines: [
      ...linesFor('Identity service', identity, identityLines),
      ...linesFor('Inference service', inference, (probe) => [probeLine('Inference service', probe)]),
    ],
  };
}

function identityLines({ probe, discovery }: IdentityFact): Line[] {
  return [
    probeLine('Identity service', probe),
    ...(discovery ? [discoveryLine(discovery)] : []),
    ...(probe.kind === 'answered' ? [clockLine(probe.skewMs)] : []),
  ];
}

function probeLine(label: string, probe: Probe): Line {
  if (probe.kind === 'answered') {
    const text = `answered ${probe.status} after ${probe.ms} ms`;
    if (probe.status === 407) return { label, text, finding: adviceOn(['PROXY_407']) ?? '' };
    if (probe.status < 500) return { label, text };
    return { label, text, finding: 'The service, or a proxy before it, fails. Nothing on this machine has to change.' };
  }
  const codes = probe.codes.length > 0 ? ` (${probe.codes.map(code).join(', ')})` : '';
  const advice = adviceOn(probe.codes) ?? 'The request failed before an answer came.';
  return { label, text: `cannot be reached: ${code(probe.message)}${codes}, after ${probe.ms} ms`, finding: advice };
}

function discoveryLine(discovery: Discovery): Line {
  const label = 'Discovery';
  switch (discovery.kind) {
    case 'found':
      return { label, text: 'found, for this issuer, with endpoints of the same host' };
    case 'absent':
      return { label, text: `none (${discovery.status}): the endpoints of the specification are used` };
    case 'unusable':
      return {
        label,
        text: 'cannot be used',
        finding: `What the service says about itself cannot be used: ${code(discovery.problem)}`,
      };
  }
}

function clockLine(skewMs: number | undefined): Line {
  const label = 'Clock';
  if (skewMs === undefined) return { label, text: 'the service did not say what time it is' };
  const apart = durationOf(Math.abs(skewMs));
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return { label, text: `this machine and the service agree within ${apart}` };
  return {
    label,
    text: `this machine is ${apart} ${skewMs > 0 ? 'behind' : 'ahead of'} the service`,
    finding:
      'Identity tokens are checked against the clock, and sessions end by it. Let the system set its clock by the network.',
  };
}
