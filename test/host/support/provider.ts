import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallModelProvider } from '../../../src/host/chat/modelProvider.ts';
import { RememberedModels } from '../../../src/host/chat/rememberedModels.ts';
import { type Scene, signInAs } from './scene.ts';
import { until } from './wait.ts';

type Model = Parameters<RolecallModelProvider['provideLanguageModelChatResponse']>[0];

export const weather: vscode.LanguageModelChatTool = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** A provider of models beside the running extension's. */
export function provide(scene: Scene, catalog = scene.catalog()): RolecallModelProvider {
  const remembered = scene.own(new RememberedModels(catalog, scene.storage));
  return new RolecallModelProvider({ ...scene.request(), clouds: scene.clouds, catalog, remembered });
}

/** The same, signed in and knowing the sandbox's models. */
export async function signedInProvider(scene: Scene): Promise<RolecallModelProvider> {
  const provider = provide(scene);
  await signInAs(await scene.startService(), 'administrator');
  await until('the list of models', () => modelOf(provider, 'sandbox/guide'));
  return provider;
}

export function modelOf(provider: RolecallModelProvider, id: string): Model | undefined {
  return provider.provideLanguageModelChatInformation().find((model) => model.id === id);
}

/** Asks a model; what it reported is in the answer, also when it throws. */
export function ask(
  provider: RolecallModelProvider,
  model: string | Model | undefined,
  prompt: string | readonly vscode.LanguageModelChatMessage[],
  options: Partial<vscode.ProvideLanguageModelChatResponseOptions> = {},
  token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
) {
  const parts: vscode.LanguageModelResponsePart[] = [];
  const information = typeof model === 'string' ? modelOf(provider, model) : model;
  const done = provider.provideLanguageModelChatResponse(
    information ?? assert.fail(`there is no model ${model}`),
    (typeof prompt === 'string'
      ? [vscode.LanguageModelChatMessage.User(prompt)]
      : prompt) as unknown as vscode.LanguageModelChatRequestMessage[],
    { toolMode: vscode.LanguageModelChatToolMode.Auto, ...options },
    { report: (part) => void parts.push(part) },
    token,
  );
  return {
    done,
    parts,
    text: () => parts.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join(''),
    calls: () => parts.filter((part) => part instanceof vscode.LanguageModelToolCallPart),
  };
}
