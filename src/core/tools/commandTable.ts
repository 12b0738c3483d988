import type { Interpreter } from './interpreterTable.ts';

/**
 * Programs that are no interpreters and still run what some of their arguments say. No such list can be complete: it
 * spares authors the usual slips, and the dialog before a run shows exactly what will run. Ways of this kind are
 * collected at https://gtfobins.github.io.
 */
export const commandRunners: readonly Interpreter[] = [
  // `NAME=value` is an assignment behind `--` too, and its value may hold `$(shell …)`.
  { names: /^(?:[gbnp]|mingw32-)?make$/, operand: 'all', argumentsOnly: true },
  { names: /^cmake$/, operand: 'plain', script: /^-[PC]/ },
  { names: /^env$/, with: /^(?: -\S+)* (?:-[a-zA-Z]*S|--split-string)/, operand: 'all', argumentsOnly: true },
  { names: /^parallel$/, operand: 'all' },
  { names: /^(?:tmux|screen)$/, operand: 'all', valued: /^-[tsnSLTxy]$/, argumentsOnly: true },
  { names: /^script$/, operand: 'all', plainOperands: 1, code: /^(?:-[aefqr]*c|--command(?==|$))/ },
  { names: /^socat$/, operand: 'all', argumentsOnly: true },
  { names: /^(?:nc|ncat|netcat)$/, operand: 'plain', code: /^(?:-[a-zA-Z]*[ec]|--(?:sh-|lua-)?exec(?==|$))/ },

  // `.shell` and its like stand where SQL does.
  {
    names: /^sqlite3?$/,
    operand: 'all',
    plainOperands: 1,
    code: /^--?(?:cmd|init)$/,
    valued: /^--?(?:separator|newline|nullvalue|vfs|mmap|maxsize|heap|lookaside|pagecache)$/,
    safe: '-safe',
    flags:
      /^--?(?:ascii|bail|batch|box|column|csv|echo|(?:no)?header|html|json|line|list|markdown|quote|readonly|stats|table|tabs)$/,
  },
  {
    names: /^duckdb$/,
    operand: 'all',
    plainOperands: 1,
    code: /^--?(?:c|s|cmd|init|f)$/,
    valued: /^--?(?:separator|newline|nullvalue)$/,
  },
  {
    names: /^psql$/,
    operand: 'plain',
    code: /^(?:-[aAbeEHlnqsStwWxXz01]*c|--command(?==|$))/,
    script: /^(?:-[aAbeEHlnqsStwWxXz01]*f|--file(?==|$))/,
  },
  {
    names: /^(?:mysql|mariadb)$/,
    operand: 'plain',
    code: /^(?:-[ABbfGHnNqrsStvVwWX]*e|--(?:execute|init-command)(?==|$))/,
  },
  { names: /^mongo(?:sh)?$/, operand: 'plain', code: /^--eval(?==|$)/, script: /^(?:-f|--file(?==|$))/ },

  {
    names: /^(?:gdb|cgdb|lldb|rust-gdb|rust-lldb)$/,
    operand: 'plain',
    code: /^(?:--?(?:ei|i)?ex$|--?(?:early-init-|init-)?eval-command(?==|$)|-[oOkK]$|--one-line[\w-]*(?==|$))/,
    script: /^(?:--?(?:ei|i)?x$|--?(?:early-init-|init-)?command(?==|$)|-[sS]$|--source[\w-]*(?==|$))/,
  },
  {
    names: /^(?:n?vim?|vimdiff|ex|view)$/,
    operand: 'plain',
    code: /^(?:-c$|--cmd$|\+)/,
    script: /^-[sSuW]$/,
    optionsBeforeCode: true,
  },
  {
    names: /^emacs(?:client)?$/,
    operand: 'plain',
    code: /^(?:--?(?:eval|execute|funcall)(?==|$)|-[ef]$)/,
    script: /^(?:--?(?:load|script)(?==|$)|-l$)/,
  },

  // A setting may be an alias, a pager or a hook.
  {
    names: /^git$/,
    operand: 'plain',
    optionsFirst: true,
    code: /^(?:-c$|--(?:config-env|exec-path)(?==|$))/,
    valued: /^(?:-C|--(?:git-dir|work-tree|namespace))$/,
  },
  {
    names: /^git$/,
    operand: 'plain',
    code: /^--(?:exec|extcmd|upload-pack|receive-pack|open-files-in-pager|config|(?:tree|index|msg|env|parent|commit|tag-name)-filter)(?==|$)/,
  },
  { names: /^git$/, with: / (?:bisect run|submodule foreach)\b/, operand: 'all', argumentsOnly: true },
  { names: /^git$/, with: / (?:rebase|difftool)\b/, operand: 'plain', code: /^-x/ },
  { names: /^git$/, with: / clone\b/, operand: 'plain', code: /^-[cu]/ },
  { names: /^git$/, with: / grep\b/, operand: 'plain', code: /^-O/ },

  {
    names: /^[gb]?(?:sd)?tar$/,
    operand: 'plain',
    code: /^(?:--(?:checkpoint-action|to-command|use-compress-program|rsh-command|rmt-command|info-script|new-volume-script)(?==|$)|-[a-zA-Z]*[IF])/,
  },
  { names: /^rsync$/, operand: 'plain', code: /^(?:-[a-zA-Z]*e|--(?:rsh|rsync-path)(?==|$))/ },
  { names: /^(?:scp|sftp)$/, operand: 'plain', code: /^-[346ABCNOpqrRTv]*[oSD]/, script: /^-[346ABCNOpqrRTv]*[bF]/ },
  { names: /^zip$/, operand: 'plain', code: options('unzip-command', 'TT') },
  { names: /^sort$/, operand: 'plain', code: options('compress-program') },
  { names: /^split$/, operand: 'plain', code: options('filter') },
  { names: /^rg$/, operand: 'plain', code: options('pre') },
  { names: /^fzf$/, operand: 'plain', code: options('preview|bind') },
  { names: /^man$/, operand: 'plain', code: options('pager', 'P') },
  { names: /^tcpdump$/, operand: 'plain', code: options('postrotate-command', 'z') },
  { names: /^wget$/, operand: 'plain', code: options('use-askpass') },
  { names: /^go$/, operand: 'plain', code: options('exec|toolexec', 'exec|toolexec') },
  { names: /^cargo$/, operand: 'plain', code: options('config') },
  { names: /^apt(?:-get)?$/, operand: 'plain', code: options('option', 'o') },
];

/** Options by their long names, and by what stands behind a single hyphen. */
function options(long: string, short = '-'): RegExp {
  return new RegExp(`^(?:--(?:${long})|-(?:${short}))(?==|$)`);
}
