import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** All processes: from /proc if there is one, because a bare Linux may have no `ps`. */
function processes(): Process[] {
  if (!fs.existsSync('/proc/self/stat')) {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' });
    return lines.trim().split('\n').map(toProcess);
  }
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap(fromProc);
}

function toProcess(line: string): Process {
  const [pid = '', parent = '', state = ''] = line.trim().split(/\s+/);
  return { pid: Number(pid), parent: Number(parent), state };
}

function fromProc(pid: string): Process[] {
  try {
    // "12 (a name) S 1 …": the name may contain anything, so only the text after its last parenthesis is parsed.
    const [state = '', parent = ''] = fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return [{ pid: Number(pid), parent: Number(parent), state }];
  } catch {
    return []; // It ended while we looked.
  }
}

/** A process and everything below it. */
export function tree(root: number): number[] {
  const all = processes();
  const found = [root];
  for (const pid of found) {
    found.push(...all.filter(({ parent }) => parent === pid).map(({ pid: child }) => child));
  }
  return found;
}

/** The processes that still run; a zombie does not. */
export function running(pids: readonly number[]): number[] {
  return processes()
    .filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
    .map(({ pid }) => pid);
}
