import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { formatList, oneLine } from '../../core/base/text.ts';
import { importPrompty } from '../../core/prompts/importPrompty.ts';
import { newPromptFile, writePromptFile } from '../../core/prompts/writePromptFile.ts';
import { promptCommands } from '../../ids.ts';
import { ownerOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import type { LastExchange, OpenToolRegistry } from '../conversation.ts';
import { showInformationMessage } from '../dialogs.ts';
import { openDraft } from '../drafts.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import { readFromDisk, resourcesOf } from './promptFiles.ts';
import { PROMPT_EXTENSION } from './promptPattern.ts';

export interface PromptDraftsDeps {
  readonly clouds: Pick<Clouds, 'active'>;
  readonly catalog: ModelCatalog;
  readonly openTools: OpenToolRegistry;
  readonly lastExchange: LastExchange;
}

/** New Prompt File, Save as Prompt File and Import .prompty File…: each opens a file that is not saved yet. */
export function promptDrafts(deps: PromptDraftsDeps) {
  return {
    [promptCommands.newPromptFile]: () =>
      openDraft('new', PROMPT_EXTENSION, newPromptFile('New prompt', deps.catalog.picked?.id)),
    [promptCommands.saveChatAsPromptFile]: () => saveChat(deps),
    [promptCommands.importPrompty]: (uri) => importFile(deps, uri),
  } satisfies Partial<Handlers>;
}

async function saveChat({ clouds, openTools, lastExchange }: PromptDraftsDeps): Promise<void> {
  const { current } = lastExchange;
  if (!current || current.owner !== ownerOf(clouds)) {
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('There is no conversation to save yet. Ask @rolecall something first.'),
    );
  }
  const { model, parameters, messages, toolRegistry } = current;
  // Calls of tools and their results have no place in the format.
  const conversation = messages.filter(({ role, content }) => role !== 'tool' && content !== null && content !== '');
  const offered = toolRegistry.tools.map(({ name }) => name);
  const own = offered.length === 0 ? [] : (await openTools()).tools.map(({ name }) => name);
  const others = offered.filter((name) => !own.includes(name));
  const tools = offered.filter((name) => own.includes(name));
  const notSaved = [
    ...(others.length === 0
      ? []
      : [vscode.l10n.t('Tools that do not belong to the workspace: {0}.', formatList(others))]),
    ...(messages.some(({ role }) => role === 'tool') ? [vscode.l10n.t('Tool calls and their results.')] : []),
  ];
  const name = vscode.l10n.t('From chat');
  const text = writePromptFile({ name, model, parameters, messages: conversation, tools });
  await openDraft('chat', PROMPT_EXTENSION, `${remarks(vscode.l10n.t('Not saved:'), notSaved)}${text}`);
}

/** Comments at the top of a file, under this heading; empty without comments. */
function remarks(heading: string, sentences: readonly string[]): string {
  if (sentences.length === 0) return '';
  return `# ${heading}\n${sentences.map((sentence) => `# ${oneLine(sentence)}\n`).join('')}\n`;
}

async function importFile({ openTools }: PromptDraftsDeps, argument: unknown): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const isPrompty = (uri: vscode.Uri | undefined) => uri?.path.endsWith('.prompty') === true;
  const uri =
    [argument instanceof vscode.Uri ? argument : undefined, active].find(isPrompty) ??
    (
      await vscode.window.showOpenDialog({
        title: vscode.l10n.t('Import .prompty File'),
        openLabel: vscode.l10n.t('Import'),
        filters: { Prompty: ['prompty'] },
      })
    )?.[0];
  if (!uri) return;
  const { readText } = resourcesOf(uri, openTools);
  const { text, notTaken } = await importPrompty(await readFromDisk(uri), (path) =>
    readText(path, new AbortController().signal).catch(() => undefined),
  );
  const head = remarks(vscode.l10n.t('Not imported:'), notTaken);
  const name =
    uri.path
      .split('/')
      .at(-1)
      ?.replace(/\.prompty$/, '') || 'imported';
  await openDraft(name, PROMPT_EXTENSION, `${head}${text}`, { folder: vscode.Uri.joinPath(uri, '..') });
  if (notTaken.length === 0) return;
  await showInformationMessage(
    notTaken.length === 1
      ? vscode.l10n.t('Imported, except for one item, which is listed at the top of the file.')
      : vscode.l10n.t('Imported, except for {0} items, which are listed at the top of the file.', notTaken.length),
  );
}
