import { runProgram } from '../program.ts';
import { startTestSandbox } from './sandbox.ts';

await runProgram(startTestSandbox);
