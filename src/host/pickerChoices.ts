import * as vscode from 'vscode';
import { isJsonObject } from '../core/base/json.ts';
import type { CompletionParameters } from '../core/completions/request.ts';
import type { Model } from './modelCatalog.ts';

/** The choices for a model in VS Code's picker. */
export interface PickerChoices {
  readonly parameters: CompletionParameters;
  /** One sentence for each choice that is not sent. */
  readonly problems: readonly string[];
}

/** A JSON schema whose enums VS Code shows as menus of a model. Not declared in the stable API. */
export interface ConfigurationSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ConfigurationProperty>>;
}

interface ConfigurationProperty {
  readonly type: 'string';
  readonly title: string;
  readonly enum: readonly string[];
  readonly enumItemLabels: readonly string[];
  readonly enumDescriptions: readonly string[];
  readonly default: string;
  /** `navigation` is shown beside the model's name; members without a group are among the model's settings. */
  readonly group?: 'navigation';
}

interface Option {
  readonly label: string;
  readonly description: string;
  /** The value that is sent. */
  readonly value: string | boolean;
}

/** A request field whose values are a menu. */
interface Menu {
  readonly field: 'reasoning_effort' | 'tool_choice' | 'logprobs';
  readonly title: string;
  readonly options: ReadonlyMap<string, Option>;
  readonly group?: 'navigation';
}

/** The entry of each menu that sets nothing. VS Code sends it while nothing is picked. */
const UNSET = 'default';

/** Those that services of this kind commonly know; the specification doesn't list them. */
const COMMON_EFFORTS: readonly string[] = ['low', 'medium', 'high'];

/** The fields of the specification with few values that make sense for one conversation, by VS Code's names. */
function menusOf({ reasoning, reasoningEfforts = COMMON_EFFORTS, tools }: Model): ReadonlyMap<string, Menu> {
  const menus = new Map<string, Menu>();
  if (reasoning !== false && reasoningEfforts.length > 0) {
    // This name is the one that VS Code passes on to agents that run outside of the window.
    menus.set('reasoningEffort', {
      field: 'reasoning_effort',
      title: vscode.l10n.t('Reasoning Effort'),
      options: new Map(reasoningEfforts.map((effort) => [effort, effortOption(effort)])),
      group: 'navigation',
    });
  }
  if (tools !== false) {
    menus.set('toolChoice', {
      field: 'tool_choice',
      title: vscode.l10n.t('Tools'),
      options: new Map<string, Option>([
        [
          'auto',
          {
            label: vscode.l10n.t('When Useful'),
            description: vscode.l10n.t('The model decides whether to call tools'),
            value: 'auto',
          },
        ],
        [
          'none',
          { label: vscode.l10n.t('None'), description: vscode.l10n.t('The model calls no tools'), value: 'none' },
        ],
      ]),
    });
  }
  menus.set('logprobs', {
    field: 'logprobs',
    title: vscode.l10n.t('Token Probabilities'),
    options: new Map<string, Option>([
      [
        'on',
        {
          label: vscode.l10n.t('On'),
          description: vscode.l10n.t('@rolecall names the words that the model was least sure of'),
          value: true,
        },
      ],
      ['off', { label: vscode.l10n.t('Off'), description: '', value: false }],
    ]),
  });
  return menus;
}

function effortOption(effort: string): Option {
  const labels: Readonly<Record<string, string>> = {
    low: vscode.l10n.t('Low'),
    medium: vscode.l10n.t('Medium'),
    high: vscode.l10n.t('High'),
  };
  const label = Object.hasOwn(labels, effort) ? labels[effort] : undefined;
  return { label: label ?? effort, description: '', value: effort };
}

/** The menus of a model, in VS Code's format. */
export function configurationSchema(model: Model): ConfigurationSchema {
  const properties = [...menusOf(model)].map(([name, { field, title, options, group }]) => {
    const choices = [...options];
    const unset = vscode.l10n.t('Uses {0} from rolecall.chat.parameters; if not set, the service decides', field);
    const property: ConfigurationProperty = {
      type: 'string',
      title,
      enum: [UNSET, ...choices.map(([choice]) => choice)],
      // VS Code shows it beside the name of the model, where there is little room.
      enumItemLabels: [vscode.l10n.t('Auto'), ...choices.map(([, { label }]) => label)],
      enumDescriptions: [unset, ...choices.map(([, { description }]) => description)],
      default: UNSET,
      ...(group && { group }),
    };
    return [name, property] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/**
 * The `modelConfiguration` of a request: the choices in the menus of {@link configurationSchema}. VS Code stores
 * choices without checking them, and an editor without these menus has none.
 */
export function readPickerChoices(model: Model, configuration: unknown): PickerChoices {
  const parameters: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { field, title, options }] of menusOf(model)) {
    const chosen = isJsonObject(configuration) ? configuration[name] : undefined;
    if (chosen === undefined || chosen === UNSET) continue;
    const option = typeof chosen === 'string' ? options.get(chosen) : undefined;
    if (option) parameters[field] = option.value;
    else {
      problems.push(
        vscode.l10n.t(
          'The choice {0} for "{1}" in the model picker was not sent, because {2} doesn’t offer it.',
          JSON.stringify(chosen),
          title,
          model.label,
        ),
      );
    }
  }
  return { parameters, problems };
}
