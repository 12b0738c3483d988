// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readToolFile } from '../../../../src/core/tools/toolFile.ts';
import { runs } from '../../runs.ts';

const folder = '/project';
const read = (text: string) => readToolFile(text, { folder });

function tool(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'greet',
    description: 'Greets a person.',
    parameters: {
      type: 'object',
      properties: { who: { type: 'string', description: 'The name.' } },
      required: ['who'],
    },
    run: { kind: 'process', command: ['echo', '--', '${who}'] },
    ...changes,
  };
}

const run = (changes: Record<string, unknown>) =>
  tool({ run: { kind: 'process', command: ['echo', '--', '${who}'], ...changes } });
const command = (id: string, args?: unknown[]) => tool({ run: { kind: 'command', command: id, arguments: args } });
const http = (changes: Record<string, unknown>) =>
  tool({ run: { kind: 'http', url: 'https://a.example/${who}', ...changes } });
const parameters = (value: unknown) =>
  tool({ parameters: value, run: { kind: 'process', command: ['x'], stdin: 'json' } });
const file = (...tools: unknown[]): string => JSON.stringify({ tools }, undefined, 2);

describe('readToolFile', () => {
  it('reads a tool and fills in the defaults', () => {
    const { tools, problems } = read(`\uFEFF{
  // comments and trailing commas are fine
  "version": 1,
  "$schema": "x",
  "tools": [${JSON.stringify(tool())},],
}`);
    assert.deepEqual(problems, []);
    const { place, ...definition } = tools[0]!;
    assert.deepEqual(definition, {
      ...tool(),
      folder,
      run: {
        kind: 'process',
        command: ['echo', '--', '${who}'],
        cwd: '.',
        env: {},
        timeoutSeconds: 60,
        outputLimit: 32768,
        stdin: 'none',
        access: { read: ['.'], write: [], network: false },
        contained: true,
      },
    });
    assert.deepEqual([place.line, place.column], [4, 12]);
  });

  it('keeps the schema of the parameters as it was written', () => {
    const schema = {
      type: 'object',
      description: 'All of it.',
      properties: {
        kind: { enum: ['a', 2, null], description: 'One of.' },
        list: {
          type: 'array',
          description: 'Many.',
          items: { type: 'object', properties: { deep: { type: 'string' } } },
        },
        link: { $ref: '#/$defs/name', description: 'A reference.' },
      },
      required: ['kind'],
      additionalProperties: { type: 'number' },
      $defs: { name: { type: 'string', minLength: 2 } },
    };
    const { tools, problems } = read(file(parameters(schema)));
    assert.deepEqual(problems, []);
    assert.deepEqual(tools[0]?.parameters, schema);
  });

  it('takes a tool without parameters', () => {
    const { tools, problems } = read(
      file({ name: 'now', description: 'Time.', run: { kind: 'process', command: ['date'] } }),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(tools[0]?.parameters, { type: 'object', properties: {}, required: [] });
  });

  /** What stands in the file, what is said, and the text it is said at. The tool is not offered. */
  const refused: [title: string, tool: unknown, message: RegExp, at: string | undefined][] = [
    [
      'a misspelt kind',
      tool({ run: { kind: 'procss', command: ['x'] } }),
      /^Unknown tool kind "procss"\. Use one of: "process", "command", "tool", "http"\.$/,
      '"procss"',
    ],
    ['a kind that is no text', tool({ run: { kind: 7 } }), /"kind" must be a string\. Use one of: "process"/, '7'],
    ['a command of ours', command('rolecall.signOut'), /Rolecall commands cannot be offered/, '"rolecall.signOut"'],
    ['an inner command of ours', command('_rolecall.x'), /Rolecall commands cannot be offered/, '"_rolecall.x"'],
    ['a command that runs others', command('runCommands'), /Name a single command/, '"runCommands"'],
    ['a chosen command', command('${who}'), /command must not contain a parameter/, '"${who}"'],
    [
      'an undeclared value of a command',
      command('a.b', [{ x: ['${whom}'] }]),
      /"\$\{whom\}" is not a declared parameter/,
      '"${whom}"',
    ],
    ['a chosen tool', tool({ run: { kind: 'tool', tool: '${who}' } }), /must not contain a parameter/, '"${who}"'],
    [
      'a tool of ours',
      tool({ run: { kind: 'tool', tool: 'rolecall_run' } }),
      /cannot call Rolecall's own tools/,
      '"rolecall_run"',
    ],
    [
      'an access tool of ours',
      tool({ run: { kind: 'tool', tool: 'rolecall_list_groups' } }),
      /cannot call Rolecall's own tools/,
      '"rolecall_list_groups"',
    ],
    [
      'an undeclared value of a tool',
      tool({ run: { kind: 'tool', tool: 'a', input: { b: 'c ${d}' } } }),
      /"\$\{d\}" is not a declared parameter/,
      '"c ${d}"',
    ],
    ['a chosen host', http({ url: 'https://${who}/' }), /must begin with|before the path|must have a host/, undefined],
    ['the end of a host', http({ url: 'https://a.${who}' }), /before the path/, '"https://a.${who}"'],
    [
      'an undeclared value of an address',
      http({ url: 'https://a/${b}' }),
      /"\$\{b\}" is not a declared parameter/,
      '"https://a/${b}"',
    ],
    ['a secret', http({ headers: { Authorization: 'Bearer x' } }), /carries a secret/, '"Bearer x"'],
    ['another secret', http({ headers: { 'X-Api-Key': 'x1' } }), /carries a secret/, '"x1"'],
    ['a header of the protocol', http({ headers: { Host: 'other' } }), /cannot set the header "Host"/, '"other"'],
    ['a body of GET', http({ body: 7 }), /GET request cannot have a body/, '7'],
    [
      'an undeclared value of a body',
      http({ method: 'POST', body: ['${c}'] }),
      /"\$\{c\}" is not a declared parameter/,
      '"${c}"',
    ],
    ['no kind', tool({ run: { command: ['x'] } }), /"run" must be an object with "kind"/, undefined],
    ['no run', tool({ run: undefined }), /"run" must be an object with "kind"/, undefined],
    ['a name with a blank', tool({ name: 'a b' }), /1 to 64 letters/, '"a b"'],
    ['a name of 65 characters', tool({ name: 'a'.repeat(65) }), /1 to 64 letters/, `"${'a'.repeat(65)}"`],
    ['an empty name', tool({ name: '' }), /1 to 64 letters/, '""'],
    ['a name with a line break at its end', tool({ name: 'a\n' }), /1 to 64 letters/, '"a\\n"'],
    ['no description', tool({ description: undefined }), /must have a "description"/, undefined],
    ['an empty description', tool({ description: '  ' }), /"description" must not be empty/, '"  "'],
    ['a tool that is no object', 'x', /A tool must be an object/, '"x"'],
    ['parameters of another type', parameters({ type: 'array' }), /must be "object"/, '"array"'],
    ['parameters that are no object', parameters([]), /"parameters" must be an object/, '[]'],
    [
      'a parameter that is no object',
      parameters({ type: 'object', properties: { a: 'string' } }),
      /A parameter must be an object/,
      '"string"',
    ],
    [
      'a required one that is unknown',
      parameters({ type: 'object', properties: {}, required: ['z'] }),
      /"z" is required but missing from/,
      '"z"',
    ],
    [
      'an unknown type',
      parameters({ type: 'object', properties: { a: { type: 'strin', description: 'd' } } }),
      /"properties\.a\.type" is not valid JSON Schema: must be equal to one of/,
      '"strin"',
    ],
    [
      'a bad pattern',
      parameters({ type: 'object', properties: { a: { type: 'string', pattern: '(', description: 'd' } } }),
      /not a valid regular expression/,
      '"("',
    ],
    [
      'a reference to the network',
      parameters({ type: 'object', properties: { a: { $ref: 'http://x.test/y', description: 'd' } } }),
      /nothing is downloaded/,
      undefined,
    ],
    [
      'a newer draft',
      parameters({ type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      /draft-07/,
      undefined,
    ],
    [
      'a schema that switches the check off',
      parameters({ type: 'object', properties: { a: { $async: true, description: 'd' } } }),
      /"\$async" is not supported/,
      'true',
    ],
    ['no command', run({ command: undefined }), /"command" must be an array/, undefined],
    ['an empty command', run({ command: [] }), /at least the program/, '[]'],
    ['an empty program', run({ command: [''] }), /program in "command" must not be empty/, undefined],
    ['a number in the command', run({ command: ['x', 1] }), /Each element of "command"/, '1'],
    ['a NUL in the command', run({ command: ['x', 'a\0'] }), /NUL/, '"a\\u0000"'],
    ['a parameter as the program', run({ command: ['${who}'] }), /program must not contain a parameter/, '"${who}"'],
    [
      'an undeclared parameter',
      run({ command: ['x', '--a=${whom}', '${who}'] }),
      /"\$\{whom\}" is not a declared/,
      '"--a=${whom}"',
    ],
    [
      'a member every object has',
      run({ command: ['x', '${toString}', '${who}'] }),
      /"\$\{toString\}" is not a declared parameter/,
      '"${toString}"',
    ],
    ['an open placeholder', run({ command: ['x', '${who'] }), /"\$\{" has no closing "\}"/, '"${who"'],
    ['an empty placeholder', run({ command: ['x', '${}'] }), /contains no parameter name/, '"${}"'],
    ['an absolute nonsense of time', run({ timeoutSeconds: 0 }), /greater than 0/, '0'],
    ['too long a time', run({ timeoutSeconds: 3601 }), /at most 3600/, '3601'],
    ['too small an output', run({ outputLimit: 255 }), /at least 256/, '255'],
    ['too large an output', run({ outputLimit: 1048577 }), /at most 1048576/, '1048577'],
    ['half a byte', run({ outputLimit: 300.5 }), /whole number/, '300.5'],
    ...['/etc', '../x', 'a/../../b', '~/.ssh', 'C:\\x', ''].map((path): (typeof refused)[number] => [
      `a path that leads outside the workspace folder: ${path}`,
      run({ access: { read: [path] } }),
      /relative to the workspace folder and stay inside it/,
      JSON.stringify(path),
    ]),
    ...['.git', 'a/.git/hooks', '.vscode', '.VSCode/x'].map((path): (typeof refused)[number] => [
      `to write ${path}`,
      run({ access: { write: [path] } }),
      /are never writable/,
      JSON.stringify(path),
    ]),
    ['a path alone', run({ access: { read: 'src' } }), /"read" must be an array/, '"src"'],
    ['a network that is no yes or no', run({ access: { network: 'lan' } }), /"network" must be true or false/, '"lan"'],
    ['an access that is no object', run({ access: true }), /"access" must be an object/, 'true'],
    ['a containing that is no yes or no', run({ contained: 'no' }), /"contained" must be true or false/, '"no"'],
    ['an unknown input', run({ stdin: 'yaml' }), /"stdin" must be/, '"yaml"'],
    ['a variable that is no text', run({ env: { A: 1 } }), /value of an environment variable/, '1'],
    [
      'a variable with a bad name',
      run({ env: { 'A=B': 'x' } }),
      /"A=B" is not a valid environment variable name/,
      undefined,
    ],
    ['a NUL in a variable', run({ env: { A: '\0' } }), /NUL/, '"\\u0000"'],
    ['an empty folder', run({ cwd: '' }), /"cwd" must not be empty/, '""'],
  ];
  for (const [title, bad, message, at] of refused) {
    it(`refuses ${title}, at its place, and keeps its neighbours`, () => {
      const text = file(tool({ name: 'before' }), bad, tool({ name: 'after' }));
      const { tools, problems } = read(text);
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['before', 'after'],
      );
      const found = problems.find((problem) => message.test(problem.message));
      assert.ok(found, JSON.stringify(problems));
      assert.equal(found.severity, 'error');
      if (at !== undefined) assert.equal(text.slice(found.offset, found.offset + found.length), at);
      assert.equal(
        text.split('\n').slice(0, found.line).join('\n').length + (found.line > 0 ? 1 : 0) + found.column,
        found.offset,
      );
    });
  }

  it('takes programs that run what they are given: what they can touch is another question', () => {
    const commands = [
      ['make', '${who}'],
      ['sh', '-c', 'echo ${who}'],
      ['node', '${who}'],
      ['env', '--', '${who}'],
    ];
    for (const each of commands) assert.deepEqual(read(file(run({ command: each }))).problems, [], each.join(' '));
  });

  const warned: [title: string, tool: unknown, message: RegExp, at: string][] = [
    ['a misspelt member', run({ timeoutSecond: 3 }), /Unknown property "timeoutSecond"/, '3'],
    ['a misspelt member of the access', run({ access: { writes: ['out'] } }), /Unknown property "writes"/, '['],
    [
      'an access of what is not contained',
      run({ access: { network: true }, contained: false }),
      /has no effect when "contained" is false/,
      '{',
    ],
    ['a misspelt member of the tool', tool({ desc: 'x' }), /Unknown property "desc"/, '"x"'],
    ['a parameter that is never used', run({ command: ['x'] }), /"who" is never passed to the program/, '{'],
    [
      'a parameter without a description',
      parameters({ type: 'object', properties: { a: { type: 'string' } } }),
      /has no "description"/,
      '{',
    ],
    [
      'a keyword that is not checked',
      parameters({ type: 'object', unevaluatedProperties: false }),
      /"unevaluatedProperties" is not a JSON Schema draft-07 keyword/,
      '{',
    ],
    [
      'an optional value after an option',
      tool({
        parameters: { type: 'object', properties: { out: { type: 'string', description: 'd' } } },
        run: { kind: 'process', command: ['x', '-o', '${out}'] },
      }),
      /the option before it takes the next argument/,
      '"${out}"',
    ],
  ];
  for (const [title, odd, message, at] of warned) {
    it(`warns of ${title} and offers the tool`, () => {
      const text = file(odd);
      const { tools, problems } = read(text);
      assert.equal(tools.length, 1);
      const found = problems.filter((problem) => message.test(problem.message));
      assert.equal(found.length, 1, JSON.stringify(problems));
      assert.equal(found[0]?.severity, 'warning');
      assert.ok(text.slice(found[0]?.offset).startsWith(at));
    });
  }

  it('warns of a name that another tool stands before, and keeps the tool', () => {
    const text = file(tool({ name: 'list_groups' }), tool({ name: 'other' }));
    const { tools, problems } = readToolFile(text, { folder, reserved: new Set(['list_groups', 'list_roles']) });
    assert.equal(tools.length, 2);
    assert.deepEqual(
      problems.map(({ severity, offset, line }) => [severity, offset, line]),
      [['warning', text.indexOf('"list_groups"'), 3]],
    );
    assert.match(problems[0]?.message ?? '', /has a built-in tool named "list_groups"/);
  });

  it('offers the first of two tools with one name and reports the second', () => {
    const text = file(tool({ description: 'first' }), tool({ description: 'second' }));
    const { tools, problems } = read(text);
    assert.deepEqual(
      tools.map(({ description }) => description),
      ['first'],
    );
    assert.equal(problems.length, 1);
    assert.equal(problems[0]?.offset, text.lastIndexOf('"greet"'));
  });

  const files: [title: string, text: string, message: RegExp][] = [
    ['an array', '[]', /must be an object with a "tools" member/],
    ['no tools', '{}', /must have a "tools" member/],
    ['tools that are no array', '{"tools": {}}', /"tools" must be an array/],
    ['tools twice', '{"tools": [], "tools": []}', /"tools" appears more than once/],
    ['a newer version', `{"version": 2, "tools": [${JSON.stringify(tool())}]}`, /only version 1/],
    ['a member without meaning', '{"tools": [], "tool": []}', /Unknown property "tool"/],
    ['nothing at all', '', /Invalid JSON/],
    ['more than there can be', `{"tools": []}${' '.repeat(1024 * 1024)}`, /longer than 1048576 characters/],
    ['brackets without end', `{"tools": ${'['.repeat(50_000)}`, /nested too deeply/],
    [
      'a value without end',
      file(command('a.b', [1])).replace('1', `${'['.repeat(50_000)}${']'.repeat(50_000)}`),
      /nested too deeply/,
    ],
    [
      'a member twice',
      `{"tools": [${JSON.stringify(tool()).replace('{', '{"name":"other",')}]}`,
      /"name" appears more than once/,
    ],
    [
      '__proto__',
      `{"tools": [${JSON.stringify(tool()).replace('"who":', '"__proto__":')}]}`,
      /must not be named "__proto__"/,
    ],
  ];
  for (const [title, text, message] of files) {
    it(`reports a file with ${title} and offers nothing of it`, () => {
      const { tools, problems } = read(text);
      assert.deepEqual(tools, []);
      assert.match(problems.map((problem) => problem.message).join('\n'), message);
    });
  }

  it('keeps the tools around a syntax error, and only those', () => {
    const broken = JSON.stringify(tool({ name: 'broken' })).replace(',"description"', ' "description"');
    const { tools, problems } = read(
      `{"tools": [${JSON.stringify(tool({ name: 'a' }))},\r\n${broken},\r\n${JSON.stringify(tool({ name: 'b' }))}]}`,
    );
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['a', 'b'],
    );
    assert.deepEqual(
      problems.map(({ line, severity }) => [line, severity]),
      [[1, 'error']],
    );
  });

  it('never offers a tool of a text that was cut otherwise than the whole text does', () => {
    const process = { kind: 'process', command: ['echo', 'x'], env: { A: 'b' } };
    const text = JSON.stringify({ tools: ['a', 'b'].map((name) => ({ run: process, description: 'd', name })) });
    const whole = new Map(read(text).tools.map((each) => [each.name, each]));
    assert.equal(whole.size, 2);
    for (let length = 0; length < text.length; length += 1) {
      for (const each of read(text.slice(0, length)).tools)
        assert.deepEqual(each, whole.get(each.name), `cut at ${length}`);
    }
  });

  it('keeps to the text where a comment has no end', () => {
    const text = '{"tools": [] /*';
    const { problems } = read(text);
    assert.ok(problems.length > 0);
    for (const { offset, length } of problems) assert.ok(offset + length <= text.length);
  });

  it('never throws, and every place lies in the text', () => {
    const text = file(tool(), run({ env: { A: 'b' } }));
    const edit = fc.record({
      at: fc.nat(text.length),
      drop: fc.nat(12),
      add: fc.constantFrom('', '{', '}', '"', ',', '[', ']', ':', 'null', '/*', '\\', '1e999', '\u2028'),
    });
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 4 }), (edits) => {
        const edited = edits.reduce(
          (result, { at, drop, add }) => result.slice(0, at) + add + result.slice(at + drop),
          text,
        );
        for (const { offset, length, line, column } of read(edited).problems) {
          assert.ok(offset >= 0 && length >= 0 && offset + length <= edited.length && line >= 0 && column >= 0);
        }
      }),
      runs(40),
    );
  });
});
