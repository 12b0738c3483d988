/** A model as prompt files name it. */
export interface ModelName {
  /** Without scheme, version and publisher. */
  readonly id: string;
  /** With its publisher, where one is named. */
  readonly full: string;
  /** The file leaves the choice to whoever runs it. */
  readonly isAuto: boolean;
}

/** Reads `gpt-4o`, `openai/gpt-4o`, `github:openai/gpt-4o`, `azureml://registries/x/models/gpt-4o/versions/2`, `auto`. */
export function readModelName(text: string): ModelName {
  const registered = /^azureml:\/\/.*?\/models\/([^/]+)/i.exec(text)?.[1];
  const full = registered ?? text.replace(/^[a-z]+:(?!\/\/)/i, '');
  return { id: full.slice(full.lastIndexOf('/') + 1), full, isAuto: full.toLowerCase() === 'auto' };
}

/** How names of other clouds are found among one's own models. */
export interface ModelNames {
  /** Of the service; empty where it lists none. */
  readonly available: readonly string[];
  /** What the user has chosen once, by the name in files. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** For files that name none, and for `auto`. */
  readonly fallback?: string | undefined;
}

/**
 * The model of the service that a name in a file means: what the user chose for it, the very name, or the only model whose ID
 * ends like it. `undefined` means that the user has to choose: another model is never taken without being asked for.
 */
export function resolveModel(
  name: string | undefined,
  { available, chosen = {}, fallback }: ModelNames,
): string | undefined {
  if (name === undefined) return fallback;
  if (Object.hasOwn(chosen, name)) return chosen[name];
  const { id, full, isAuto } = readModelName(name);
  if (Object.hasOwn(chosen, full)) return chosen[full];
  if (isAuto) return fallback;
  for (const exact of [name, full, id]) if (available.includes(exact)) return exact;
  const alike = available.filter((model) => readModelName(model).id.toLowerCase() === id.toLowerCase());
  if (alike.length === 1) return alike[0];
  // A service that lists nothing is asked for the very name.
  return available.length === 0 ? name : undefined;
}
