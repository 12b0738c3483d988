import fs from 'node:fs';
import path from 'node:path';

/**
 * Packages are installed without their build scripts, so the editor's native modules are missing. Two of them matter:
 * without spdlog no log is written, and the Output view of a log channel stays empty; without the watchdog an extension
 * host outlives its server. Both have an interface of a few functions, which these stand-ins have too.
 */
const standIns: Readonly<Record<string, string>> = {
  '@vscode/spdlog': `
const fs = require('fs');
const path = require('path');
const names = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];
class Logger {
  constructor(_type, _name, file) { this.file = file; this.level = 2; this.raw = false; }
  write(level, text) {
    if (level < this.level) return;
    const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
    try { fs.appendFileSync(this.file, this.raw ? text : time + ' [' + names[level] + '] ' + text + '\\n'); } catch {}
  }
  trace(text) { this.write(0, text); }
  debug(text) { this.write(1, text); }
  info(text) { this.write(2, text); }
  warn(text) { this.write(3, text); }
  error(text) { this.write(4, text); }
  critical(text) { this.write(5, text); }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  setPattern() {}
  clearFormatters() { this.raw = true; }
  flush() {}
  drop() {}
}
async function create(name, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  return new Logger('file', name, file);
}
exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
`,
  '@vscode/native-watchdog': `
exports.start = (pid) => {
  setInterval(() => {
    try { process.kill(pid, 0); } catch (error) { if (error.code === 'ESRCH') process.exit(87); }
  }, 1000).unref();
};
exports.exit = (code) => process.exit(code);
`,
};

/** Puts the stand-ins into an installed code-server tree. */
export function replaceNatives(codeServer: string): void {
  for (const [name, source] of Object.entries(standIns)) {
    const file = path.join(codeServer, 'lib', 'vscode', 'node_modules', name, 'index.js');
    if (!fs.existsSync(file)) {
      throw new Error(`${file} is not where the served editor has it: see natives.ts.`);
    }
    fs.rmSync(file);
    fs.writeFileSync(file, `${source.trim()}\n`);
  }
}
