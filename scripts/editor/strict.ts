import fs from 'node:fs';
import path from 'node:path';

/**
 * The served editor gives every extension every proposed API. Desktop VS Code does not, so a test that passes there could
 * rest on something no user has. This puts VS Code's own rule back: a proposal is there for the extension that declares it.
 *
 * The check is found by its shape and not by its minified name: a function of (extension, proposal) that always says yes,
 * followed by the one that throws "CANNOT use API proposal" when it says no.
 */
const alwaysYes =
  /function ([\w$]+)\(([\w$]+),([\w$]+)\)\{return!0\}(?=function [\w$]+\(\2,\3\)\{if\(!\1\(\2,\3\)\)throw new Error\(`Extension '\$\{\2\.identifier\.value\}' CANNOT use API proposal: \$\{\3\})/g;
const saysNo = (name: string, extension: string, proposal: string): string =>
  `function ${name}(${extension},${proposal}){return!!${extension}.enabledApiProposals&&${extension}.enabledApiProposals.includes(${proposal})}`;
const forAll = /_envEnablesProposedApiForAll=!0/g;

/** The bundles that carry the check, and whether they also switch the proposals on for all. */
const bundles: ReadonlyArray<readonly [file: string, switchesOn: boolean]> = [
  ['vs/workbench/api/node/extensionHostProcess.js', false],
  ['vs/workbench/api/worker/extensionHostWorkerMain.js', false],
  ['vs/code/browser/workbench/workbench.js', true],
];

/** The strict text of one bundle. @throws Error when the check is not found exactly once: then this file must learn it anew. */
export function strictText(source: string, file: string, switchesOn: boolean): string {
  const checks = source.match(alwaysYes)?.length ?? 0;
  if (checks !== 1) {
    throw new Error(`${file}: the check of proposed API was found ${checks} times instead of once.`);
  }
  const switches = source.match(forAll)?.length ?? 0;
  if (switches !== (switchesOn ? 1 : 0)) {
    throw new Error(`${file}: the switch of proposed API for all was found ${switches} times.`);
  }
  return source
    .replace(alwaysYes, (_all, name: string, extension: string, proposal: string) => saysNo(name, extension, proposal))
    .replace(forAll, '_envEnablesProposedApiForAll=!1');
}

/** Makes an installed code-server tree enforce the stable API. Once for each installed tree: a second call throws. */
export function makeStrict(codeServer: string): void {
  const out = path.join(codeServer, 'lib', 'vscode', 'out');
  // All three are read before the first is written: a half-strict tree would look like a strict one.
  const texts = bundles.map(([file, switchesOn]) => {
    const full = path.join(out, file);
    return [full, strictText(fs.readFileSync(full, 'utf8'), file, switchesOn)] as const;
  });
  for (const [full, text] of texts) {
    // A new file, so that a copy hard-linked elsewhere keeps its own text.
    const fresh = `${full}.strict`;
    fs.writeFileSync(fresh, text);
    fs.renameSync(fresh, full);
  }
}
