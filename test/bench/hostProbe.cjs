// The main file of an extension that the benchmark installs beside Rolecall: activates it and another one, and writes what
// the host noted about each. Environment: ROLECALL_PROBE, {ids, result} as JSON.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

/** After which an extension that goes on reading by itself has done so, in milliseconds. */
const SETTLED_MS = 3000;

exports.activate = async () => {
  const { ids, result } = JSON.parse(process.env.ROLECALL_PROBE);
  try {
    const found = {};
    for (const id of ids) {
      const extension = vscode.extensions.getExtension(id);
      if (!extension) throw new Error(`${id} is not installed.`);
      await extension.activate();
      const [loadMs, activateMs] = [between(id, 'LoadExtensionCode'), between(id, 'ActivateExtension')];
      found[id] = { loadMs, activateMs, bytes: bytesOf(extension) };
    }
    setTimeout(() => {
      for (const id of ids) found[id].bytesSettled = bytesOf(vscode.extensions.getExtension(id));
      write(result, found);
    }, SETTLED_MS);
  } catch (error) {
    write(result, { error: String(error) });
  }
};

/** From one mark of the host to the other, in whole milliseconds. */
function between(id, what) {
  const at = (which) => {
    const name = `code/extHost/${which}${what}/${id}`;
    const mark = globalThis.MonacoPerformanceMarks.getMarks().find((each) => each.name === name);
    if (!mark) throw new Error(`The host has no mark ${name}.`);
    return mark.startTime;
  };
  return at('did') - at('will');
}

/** The files of an extension that were required so far. */
function bytesOf({ extensionPath }) {
  const own = fs.realpathSync(extensionPath) + path.sep;
  const files = Object.keys(require.cache).filter((file) => file.startsWith(own));
  return files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
}

/** Whole or not at all: somebody waits for the file. */
function write(file, found) {
  fs.writeFileSync(`${file}.part`, JSON.stringify(found));
  fs.renameSync(`${file}.part`, file);
}
