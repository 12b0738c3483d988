// node supervisor.ts COMMAND [arguments]: runs a command as the leader of a process group and ends the whole group when the
// command ends, when told to, or when standard input closes, which it does however the starter died.
// The served editor needs that: its extension host outlives the server that forked it.
import { spawn } from 'node:child_process';

/** How long the group may take over SIGTERM before SIGKILL. */
const graceMs = Number(process.env.ROLECALL_SUPERVISOR_GRACE_MS ?? 3000);

const [command, ...parameters] = process.argv.slice(2);
if (command === undefined) {
  process.exit(2);
}

const child = spawn(command, parameters, { stdio: ['ignore', 'inherit', 'inherit'] });
let ending = false;

function endGroup(graceOfGroupMs: number): void {
  if (ending) {
    return;
  }
  ending = true;
  // The supervisor is in the group as well; its handler below keeps it alive until the others have gone.
  process.kill(-process.pid, 'SIGTERM');
  setTimeout(() => process.kill(-process.pid, 'SIGKILL'), graceOfGroupMs);
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => endGroup(graceMs));
}
process.stdin.on('end', () => endGroup(graceMs));
process.stdin.on('error', () => endGroup(graceMs));
process.stdin.resume();
child.on('error', (error) => {
  process.stderr.write(`${command}: ${error.message}\n`);
  process.exit(127);
});
child.on('exit', (code) => {
  if (ending) {
    setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 200);
  } else {
    // The exit code cannot be passed on: the last signal to the group ends the supervisor as well.
    process.stderr.write(`It ended by itself with ${code === null ? 'a signal' : `exit code ${code}`}.\n`);
    endGroup(200);
  }
});
