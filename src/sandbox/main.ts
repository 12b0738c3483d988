import { runProgram } from './program.ts';
import { startSandbox } from './sandbox.ts';

await runProgram(startSandbox);
