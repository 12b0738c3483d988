import type { Fetch } from '../../core/base/http.ts';
import { httpLines } from '../../core/tools/consentText.ts';
import type { HttpRun, ToolOf } from '../../core/tools/definition.ts';
import { plainDefinitionHash } from '../../core/tools/definitionHash.ts';
import { prepareHttp } from '../../core/tools/httpPrepare.ts';
import { runHttp } from '../../core/tools/httpRun.ts';
import type { PreparedTool } from './preparedTool.ts';

/** A request to a host the user allowed. */
export function prepareRequestTool(
  definition: ToolOf<HttpRun>,
  args: Readonly<Record<string, unknown>>,
  { allowedHosts, fetch }: { readonly allowedHosts: readonly string[]; readonly fetch: Fetch },
): PreparedTool {
  const spec = prepareHttp(definition.run, args, allowedHosts);
  return {
    lines: httpLines(spec),
    hash: async () => plainDefinitionHash(definition),
    run: (signal) => runHttp(spec, { fetch, signal }),
  };
}
