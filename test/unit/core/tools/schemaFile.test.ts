// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { readToolFile } from '../../../../src/core/tools/toolFile.ts';
import { knownMembers, runMembers, supportedKinds } from '../../../../src/core/tools/toolSchema.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../../../media/schemas/rolecall.tools.schema.json', import.meta.url), 'utf8'),
);
const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);

const process = (changes: object): object => ({ kind: 'process', command: ['x'], ...changes });
const tool = (changes: object): object => ({ name: 'a', description: 'd', run: process({}), ...changes });
const file = (changes: object): object => ({ tools: [tool(changes)] });

describe('rolecall.tools.schema.json', () => {
  const rows: [title: string, value: unknown, good: boolean][] = [
    ['no tools at all', { tools: [] }, true],
    ['a version', { version: 1, tools: [] }, true],
    ['a newer version', { version: 2, tools: [] }, false],
    ['no list', {}, false],
    ['the least tool', file({}), true],
    ['no name', file({ name: undefined }), false],
    ['a long name', file({ name: 'a'.repeat(65) }), false],
    ['no description', file({ description: undefined }), false],
    ['a blank description', file({ description: ' ' }), false],
    ['an unknown member', file({ extra: 1 }), false],
    ['no run', file({ run: undefined }), false],
    ['an unknown kind', file({ run: { kind: 'procss', command: ['x'] } }), false],
    ['a command of the editor', file({ run: { kind: 'command', command: 'a.b' } }), true],
    [
      'everything of a command',
      file({
        run: { kind: 'command', command: 'a.b', arguments: [1, { a: ['b'] }], timeoutSeconds: 1, outputLimit: 256 },
      }),
      true,
    ],
    ['a command with a blank', file({ run: { kind: 'command', command: 'a b' } }), false],
    ['a command like that of a process', file({ run: { kind: 'command', command: ['a'] } }), false],
    ['arguments that are no array', file({ run: { kind: 'command', command: 'a', arguments: {} } }), false],
    [
      'a tool of the editor',
      file({ run: { kind: 'tool', tool: 'mcp_a_b', input: { a: 1 }, timeoutSeconds: 1 } }),
      true,
    ],
    ['a tool without its name', file({ run: { kind: 'tool' } }), false],
    ['an input that is no object', file({ run: { kind: 'tool', tool: 'a', input: [] } }), false],
    ['a command’s member in a tool', file({ run: { kind: 'tool', tool: 'a', arguments: [] } }), false],
    ['a request', file({ run: { kind: 'http', url: 'https://a.example' } }), true],
    [
      'everything of a request',
      file({
        run: { kind: 'http', method: 'POST', url: 'http://a:1/b?c=d', headers: { Accept: 'x' }, body: { a: null } },
      }),
      true,
    ],
    ['a request without an address', file({ run: { kind: 'http' } }), false],
    ['an address that is none', file({ run: { kind: 'http', url: 'x' } }), false],
    ['an address of another scheme', file({ run: { kind: 'http', url: 'file:///etc/passwd' } }), false],
    ['an address with a user name', file({ run: { kind: 'http', url: 'https://u@a/' } }), false],
    ['an address with a fragment', file({ run: { kind: 'http', url: 'https://a/#b' } }), false],
    ['an unknown method', file({ run: { kind: 'http', url: 'https://a', method: 'TRACE' } }), false],
    ['a header with a line break', file({ run: { kind: 'http', url: 'https://a', headers: { A: 'b\nc' } } }), false],
    ['a bad name of a header', file({ run: { kind: 'http', url: 'https://a', headers: { 'a b': 'c' } } }), false],
    ['no command', file({ run: { kind: 'process' } }), false],
    ['an empty command', file({ run: process({ command: [] }) }), false],
    ['an empty program', file({ run: process({ command: [''] }) }), false],
    ['an empty argument', file({ run: process({ command: ['x', ''] }) }), true],
    ['as many arguments as there can be', file({ run: process({ command: Array(256).fill('x') }) }), true],
    ['more arguments than there can be', file({ run: process({ command: Array(257).fill('x') }) }), false],
    ['a number as an argument', file({ run: process({ command: ['x', 1] }) }), false],
    ['an unknown member of run', file({ run: process({ shell: true }) }), false],
    [
      'everything of run',
      file({ run: process({ cwd: 'a', env: { A: 'b' }, timeoutSeconds: 1.5, outputLimit: 256, stdin: 'json' }) }),
      true,
    ],
    ['an access', file({ run: process({ access: { read: ['a/b', '.'], write: ['out'], network: true } }) }), true],
    ['an empty access', file({ run: process({ access: {} }) }), true],
    ['a path upwards', file({ run: process({ access: { read: ['a/../../b'] } }) }), false],
    ['an absolute path', file({ run: process({ access: { write: ['/a'] } }) }), false],
    ['to write .git', file({ run: process({ access: { write: ['a/.GIT/x'] } }) }), false],
    ['to read .git', file({ run: process({ access: { read: ['.git'] } }) }), true],
    ['an unknown member of the access', file({ run: process({ access: { home: true } }) }), false],
    ['not contained', file({ run: process({ contained: false }) }), true],
    ['contained by a word', file({ run: process({ contained: 'no' }) }), false],
    ['the longest time', file({ run: process({ timeoutSeconds: 3600 }) }), true],
    ['too long a time', file({ run: process({ timeoutSeconds: 3600.1 }) }), false],
    ['no time', file({ run: process({ timeoutSeconds: 0 }) }), false],
    ['the largest output', file({ run: process({ outputLimit: 1048576 }) }), true],
    ['too large an output', file({ run: process({ outputLimit: 1048577 }) }), false],
    ['too small an output', file({ run: process({ outputLimit: 255 }) }), false],
    ['an empty folder', file({ run: process({ cwd: '' }) }), false],
    ['a bad variable', file({ run: process({ env: { 'A-B': 'x' } }) }), false],
    ['an unknown input', file({ run: process({ stdin: 'yaml' }) }), false],
    ['stdin none', file({ run: process({ stdin: 'none' }) }), true],
    ['parameters', file({ parameters: { type: 'object', properties: {}, required: [] } }), true],
    ['parameters of another type', file({ parameters: { type: 'string' } }), false],
    [
      'a parameter that is no schema',
      file({ parameters: { type: 'object', properties: { a: { type: 'strin', description: 'd' } } } }),
      false,
    ],
    ['a parameter that is no object', file({ parameters: { type: 'object', properties: { a: true } } }), false],
  ];
  for (const [title, value, good] of rows) {
    it(`is silent about ${title}, which the reader ${good ? 'takes' : 'marks'}`, () => {
      const text = JSON.stringify(value);
      assert.equal(validate(JSON.parse(text)), true, JSON.stringify(validate.errors));
      assert.equal(readToolFile(text, { folder: '/' }).problems.length === 0, good);
    });
  }

  it('names every member that the reader takes, and what it is for', () => {
    const { properties, definitions } = schema;
    const described = (part: { properties: Record<string, object> }, members: readonly string[]) => {
      assert.deepEqual(Object.keys(part.properties).sort(), [...members].sort());
      for (const [name, member] of Object.entries(part.properties)) {
        assert.ok(Object.keys(member).length > 0, name);
      }
    };
    described(
      { properties },
      knownMembers.file.filter((name) => name !== '$schema'),
    );
    described(definitions.tool, knownMembers.tool);
    described(definitions.process.properties.access, knownMembers.access);
    const kinds: string[] = definitions.run.properties.kind.examples;
    assert.deepEqual(kinds, [...supportedKinds]);
    for (const [at, kind] of kinds.entries()) {
      const { if: when, then } = definitions.run.allOf[at];
      assert.equal(when.properties.kind.const, kind);
      const part = definitions[then.$ref.split('/').at(-1)];
      described(part, runMembers.get(kind)?.filter((name) => name !== 'kind') ?? []);
    }
  });
});
