import path from 'node:path';
import * as vscode from 'vscode';

export interface McpProviderDeps {
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON' | 'extensionPath'>;
  /** The folder of the state that windows share, where that is not the usual place. */
  readonly state: string | undefined;
  /** Where programs reach this window; `undefined` while nobody is signed in. */
  readonly address: () => Promise<string | undefined>;
}

/** Variables by which a terminal chooses another sign-in. */
const OF_TERMINALS = ['ROLECALL_TOKEN', 'ROLECALL_IDENTITY_URL', 'ROLECALL_INFERENCE_URL', 'ROLECALL_ORGANIZATION'];

/**
 * Offers the tools of `rolecall mcp` to agents that see only those of MCP servers. The editor starts it when one wants them; it
 * then joins this very window.
 */
export class McpProvider implements vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> {
  readonly #deps: McpProviderDeps;

  constructor(deps: McpProviderDeps) {
    this.#deps = deps;
  }

  provideMcpServerDefinitions(): vscode.McpStdioServerDefinition[] {
    const { extensionPath, packageJSON } = this.#deps.extension;
    const program = path.join(extensionPath, 'dist', 'cli.cjs');
    const env = { ELECTRON_RUN_AS_NODE: '1', ...Object.fromEntries(OF_TERMINALS.map((name) => [name, null])) };
    const { version } = packageJSON as { version: string };
    const server = new vscode.McpStdioServerDefinition('Rolecall', process.execPath, [program, 'mcp'], env, version);
    const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
    if (folder) server.cwd = folder.uri;
    return [server];
  }

  async resolveMcpServerDefinition(server: vscode.McpStdioServerDefinition): Promise<vscode.McpStdioServerDefinition> {
    const { state, address } = this.#deps;
    const window = await address();
    server.env = {
      ...server.env,
      ...(window !== undefined && { ROLECALL_WINDOW: window }),
      ...(state !== undefined && { ROLECALL_STATE: state }),
    };
    return server;
  }
}
