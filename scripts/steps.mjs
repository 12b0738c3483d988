// What a command prints while it works, in plain JavaScript: bootstrap.mjs uses it before there is anything to run TypeScript with.

const titleWidth = 44;
/** How often a line is written anew on a terminal, and how often a long step prints a line elsewhere. */
const everyMs = { terminal: 500, elsewhere: 10_000 };

/**
 * Does `work` and prints one line for it, with its time, when it is done. While it lasts, a terminal shows the line with the
 * seconds so far; elsewhere a long step is heard of now and then. `progress` says how far it is, in a few words.
 */
export async function step(title, work, { progress, stream = process.stderr } = {}) {
  const started = performance.now();
  const isTerminal = stream.isTTY === true;
  const line = (sign, added = '') => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    return `${sign} ${title.padEnd(titleWidth)} ${seconds} s${added === '' ? '' : `  ${added}`}`;
  };
  const write = (text, isLast) => {
    // A line longer than the terminal would wrap, and could then not be written over.
    const shown = isTerminal ? `\r\x1b[2K${isLast ? text : text.slice(0, (stream.columns || 80) - 1)}` : text;
    stream.write(isTerminal && !isLast ? shown : `${shown}\n`);
  };
  const tell = () => write(line('…', progress?.()), false);
  const timer = setInterval(tell, isTerminal ? everyMs.terminal : everyMs.elsewhere);
  try {
    const result = await work();
    write(line('✔'), true);
    return result;
  } catch (error) {
    write(line('✖'), true);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
