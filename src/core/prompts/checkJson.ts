import * as l10n from '@vscode/l10n';
import { Ajv, type ErrorObject } from 'ajv';
import { withinDeadline } from '../base/withinDeadline.ts';
import type { Outcome } from './outcome.ts';

/** A schema or a pattern in it that needs longer would need for ever. */
const DEADLINE_MS = 1000;
const SHOWN_ERRORS = 3;

/** Checks a value against a JSON Schema (draft-07). No reference is ever fetched, and nothing takes longer than the deadline. */
export function checkJson(schema: unknown, value: unknown): Outcome {
  try {
    return withinDeadline(DEADLINE_MS, (): Outcome => {
      const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, logger: false });
      const validate = ajv.compile(schema as object);
      const result: unknown = validate(value);
      if (result === true) return { verdict: 'passed' };
      // The validator of an `$async` schema answers with a promise, which says nothing.
      if (result !== false) return unusable('$async');
      const errors = validate.errors ?? [];
      const shown = errors.slice(0, SHOWN_ERRORS).map(sentence).join(' ');
      return { verdict: 'failed', reason: l10n.t('The answer does not fit the schema. {0}', shown) };
    });
  } catch (error) {
    return unusable((error as Error).message);
  }
}

function unusable(message: string): Outcome {
  return { verdict: 'error', reason: l10n.t('The JSON Schema cannot be used: {0}', message) };
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const place = instancePath === '' ? l10n.t('The value') : instancePath;
  const unknown = typeof params.additionalProperty === 'string' ? ` (${params.additionalProperty})` : '';
  return `${place} ${message ?? ''}${unknown}.`;
}
