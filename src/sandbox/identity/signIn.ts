import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Provider } from 'oidc-provider';
import { readText } from '../http.ts';
import { sendError } from './errors.ts';
import { sendProblemPage, sendSignInPage } from './pages.ts';
import { personById } from './people.ts';

/**
 * The sign-in page, at the address the library sends the browser to (its `interactions` extension point). Choosing a
 * person also grants what was asked for: there is no separate consent.
 */
export async function handleSignIn(
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
  path: string,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'POST') {
    sendError(res, 'method_not_allowed', `${req.method} is not offered here.`, { Allow: 'GET, POST' });
    return;
  }
  try {
    const interaction = await provider.interactionDetails(req, res);
    if (req.method === 'GET') sendSignInPage(res, path);
    else await choose(provider, req, res, interaction.params);
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    sendProblemPage(
      res,
      400,
      'This sign-in is over',
      'It was finished, or it is too old. Start again from the editor.',
    );
  }
}

async function choose(
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
  params: Record<string, unknown>,
): Promise<void> {
  const form = new URLSearchParams(await readText(req));
  if (form.has('cancel')) {
    const result = { error: 'access_denied', error_description: 'The sign-in was cancelled.' };
    await provider.interactionFinished(req, res, result);
    return;
  }
  const person = personById(form.get('person') ?? '');
  if (person === undefined) {
    sendProblemPage(res, 400, 'Who is that?', 'The sandbox knows no such person. Go back and choose one of the three.');
    return;
  }
  const grant = new provider.Grant({ accountId: person.id, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const consent = { grantId: await grant.save() };
  const login = { accountId: person.id, remember: false };
  await provider.interactionFinished(req, res, { login, consent, select_account: {} });
}
