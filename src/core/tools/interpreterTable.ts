/**
 * How a program finds its code among its arguments. An option pattern matches the option itself, from its start: when
 * it matches the whole argument, the value is the next argument; otherwise the value is attached to it.
 */
export interface Interpreter {
  readonly names: RegExp;
  /** Only where the words behind the program, each after a blank, match. */
  readonly with?: RegExp;
  /** What an argument that belongs to no option is: the name of a script, code, nothing special; `all`: each one is code. */
  readonly operand: 'script' | 'code' | 'all' | 'plain';
  /** How many arguments that belong to no option are nothing special, before `operand` counts. */
  readonly plainOperands?: number;
  /** Its options end at the first argument that is none. */
  readonly optionsFirst?: true;
  /** An option with which code can start no program and touch no other file. */
  readonly safe?: string;
  /** Options without a value: behind others, `safe` may be a value and is not relied on. */
  readonly flags?: RegExp;
  /** It reads code from standard input only where an argument says so. */
  readonly argumentsOnly?: true;
  /** Options with code as their value. */
  readonly code?: RegExp;
  /** Options that name the script to run: what follows are its plain arguments. */
  readonly script?: RegExp;
  /** Options that name something to load before the script. */
  readonly loads?: RegExp;
  /** Options with another value in the next argument. */
  readonly valued?: RegExp;
  /** The script is standard input: every argument that follows is plain. Only shells have it. */
  readonly fromStdin?: RegExp;
  /** First words behind which the script stands. */
  readonly runCommand?: RegExp;
  /** First words behind which code stands. */
  readonly codeCommand?: RegExp;
  /** Options may stand between the code option and the code. */
  readonly optionsBeforeCode?: true;
  /** Nothing behind the code is code, whatever it looks like. */
  readonly endsAtCode?: true;
}

export const languages: readonly Interpreter[] = [
  {
    names: /^(?:ba|z|da|k|mk|a|fi|c|tc|pd|ya)?sh$/,
    operand: 'script',
    code: /^(?:-[a-zA-Z]*c[a-zA-Z]*|--(?:init-)?command(?==|$))/,
    // `-C` is code in fish and a plain flag elsewhere.
    loads: /^(?:-C|--(?:rcfile|init-file)(?==|$))/,
    valued: /^[-+][a-zA-Z]*[oO]$/,
    fromStdin: /^-[a-zA-Z]*s[a-zA-Z]*$/,
    optionsBeforeCode: true,
    endsAtCode: true,
  },
  { names: /^(?:su|runuser|cmd|ssh|mosh|autossh|eval|watch)$/, operand: 'all' },
  { names: /^(?:powershell|pwsh)$/, operand: 'all', script: /^-f(?:i|il|ile)?$/i },
  {
    names: /^(?:python|pypy)[\d.]*w?$|^py$/,
    operand: 'script',
    code: /^-[bBdEhiIOPqRsSuvVx]*c/,
    script: /^-[bBdEhiIOPqRsSuvVx]*m/,
    valued: /^(?:-[WX]|--check-hash-based-pycs)$/,
    endsAtCode: true,
  },
  {
    names: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/,
    operand: 'script',
    code: /^(?:-[ip]*[ep]|--(?:eval|print)(?==|$))/,
    loads: /^(?:-r|--(?:require|import|loader|experimental-loader|preload|env-file|import-map|config)(?==|$))/,
    valued: /^(?:-C|--(?:conditions|input-type|title|stack-trace-limit|tsconfig))$/,
    runCommand: /^(?:run|serve|task|test|bench|watch|x)$/,
    codeCommand: /^(?:eval|exec)$/,
    optionsBeforeCode: true,
  },
  {
    names: /^perl[\d.]*$/,
    operand: 'script',
    code: /^-[acfgilnpsStTuUvwWX\d]*[eE]/,
    loads: /^-[ImM]/,
  },
  {
    names: /^ruby[\d.]*$/,
    operand: 'script',
    code: /^-[aclnpsSvwWy\d]*e/,
    loads: /^(?:-[rI]|--require(?==|$))/,
    valued: /^(?:-[CE]|--(?:encoding|external-encoding|internal-encoding))$/,
  },
  {
    names: /^(?:lua|luajit|julia|Rscript|osascript)[\d.]*$/,
    operand: 'script',
    code: /^(?:-i?[eE]|--(?:eval|print)(?==|$))/,
    loads: /^(?:-[lL]|--load(?==|$))/,
    valued: /^(?:-[Jpt]|--(?:project|threads|procs))$/,
  },
  {
    names: /^php[\d.]*$/,
    operand: 'script',
    code: /^(?:-[aCHnqs]*[rBRE]|--(?:run|process-begin|process-code|process-end)(?==|$))/,
    script: /^(?:-[fF]|--(?:process-)?file(?==|$))/,
    // A setting such as `auto_prepend_file` loads a script.
    loads: /^(?:-[dcz]|--(?:define|php-ini|zend-extension)(?==|$))/,
    valued: /^(?:-[St]|--(?:server|docroot))$/,
  },
  {
    names: /^(?:[gmn]|original-)?awk$/,
    operand: 'code',
    code: /^(?:-e|--source(?==|$))/,
    script: /^(?:-[fE]|--(?:file|exec)(?==|$))/,
    loads: /^(?:-[il]|--(?:include|load)(?==|$))/,
    valued: /^(?:-[Fv]|--(?:field-separator|assign))$/,
  },
  {
    names: /^g?sed$/,
    operand: 'code',
    code: /^(?:-[nErsuz]*e|--expression(?==|$))/,
    script: /^(?:-[nErsuz]*f|--file(?==|$))/,
    valued: /^(?:-l|--line-length)$/,
    safe: '--sandbox',
    flags: /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug))$/,
  },
  { names: /^R$/, operand: 'script', code: /^-e/, script: /^(?:-f|--file(?==|$))/ },
  {
    names: /^javaw?$/,
    operand: 'script',
    script: /^-jar$/,
    loads:
      /^(?:-(?:cp|classpath|p|m)$|--(?:class-path|module-path|module)(?==|$)|-(?:javaagent|agentlib|agentpath|XX|Xbootclasspath))/,
    valued: /^-D$/,
  },
  {
    names:
      /^(?:tclsh|wish|expect|groovy|scala|kotlin|elixir|iex|erl|clojure|clj|bb|raku|swift|octave|ghci|runghc|ocaml|sbcl|guile|racket|gnuplot|jshell|m4|nu|elvish|xonsh|wscript|cscript|mshta)[\d.]*$/,
    operand: 'script',
    code: /^(?:--?(?:eval|evaluate|execute|command)(?==|$)|-[inp]*[ecE])/,
    loads: /^(?:-[lLI]|--(?:load|require|init-file)(?==|$))/,
    optionsBeforeCode: true,
  },
];
