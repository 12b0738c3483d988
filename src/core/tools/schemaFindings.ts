import { error, type Finding } from './finding.ts';
import type { ToolShape } from './toolSchema.ts';
import { compileParameters } from './validate.ts';

/** What is wrong with the `parameters` of a tool as JSON Schema. */
export function schemaFindings({ parameters }: ToolShape): Finding[] {
  const findings = Object.entries(parameters.properties).flatMap(([name, property]): Finding[] => {
    const path = ['parameters', 'properties', name];
    if (typeof property.description === 'string') return [];
    return [
      { path, severity: 'warning', message: `The parameter "${name}" has no "description": the model has to guess.` },
    ];
  });
  for (const [index, name] of parameters.required.entries()) {
    if (Object.hasOwn(parameters.properties, name)) continue;
    findings.push(error(['parameters', 'required', index], `"${name}" is required and is not among "properties".`));
  }
  const compiled = compileParameters(parameters);
  if (compiled.kind === 'invalid') {
    return [...findings, ...compiled.faults.map((fault) => schemaFault(fault.path, fault.message))];
  }
  for (const keyword of compiled.unknownKeywords) {
    const message = `"${keyword}" is no keyword of JSON Schema draft-07: it is sent to the model and not checked.`;
    findings.push({ path: ['parameters'], severity: 'warning', message });
  }
  return findings;
}

function schemaFault(path: readonly string[], message: string): Finding {
  const subject = path.length === 0 ? '"parameters"' : `"${path.join('.')}"`;
  return { ...error(['parameters', ...path], `${subject} ${message}.`), bySchema: true };
}
