import {
  type AccessToolCall,
  type AccessToolName,
  answerQuestion,
  readQuestion,
} from '../../core/access/accessTools.ts';
import type { MeasureText } from '../../core/access/answers.ts';
import { raceWithSignal } from '../../core/base/abort.ts';
import { cancelled } from '../../core/base/errors.ts';
import type { AccessData } from '../accessData.ts';

/**
 * See `readQuestion` of core; the organizations are those of the tree.
 *
 * @throws RolecallError `signedOut`, `invalidRequest` with a sentence that the model can act on.
 */
export async function readToolQuestion(
  data: AccessData,
  tool: AccessToolName,
  raw: unknown,
  asker: 'ourselves' | 'others',
): Promise<AccessToolCall> {
  const organizations = await data.organizations(data.requireSession());
  const known = organizations.map(({ id, name }) => ({ id, names: [name, data.labelOf(id)] }));
  return readQuestion(tool, raw, known, asker);
}

/**
 * Answers from the lists of the organization, reading them first where needed.
 *
 * @returns text within `budget` in the unit of `measure`.
 * @throws RolecallError of any kind; `cancelled` also when the account changed meanwhile.
 */
export async function answerToolQuestion(
  data: AccessData,
  question: AccessToolCall,
  budget: number,
  measure: MeasureText,
  signal: AbortSignal,
): Promise<string> {
  const session = data.requireSession();
  const { model, access } = await raceWithSignal(data.read(session, question.organization), signal);
  if (data.session !== session) throw cancelled();
  const { groups, roles } = access;
  if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
  return answerQuestion(model, question, budget, measure);
}
