// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toolEnvironment, variable } from '../../../../src/core/tools/environment.ts';

const posix = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TMPDIR', 'TZ'];
const secrets = [
  'GITHUB_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'NPM_TOKEN',
  'SSH_AUTH_SOCK',
  'HTTPS_PROXY',
  'ELECTRON_RUN_AS_NODE',
  'VSCODE_IPC_HOOK',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'DYLD_INSERT_LIBRARIES',
  'PATH_TOKEN',
  'LC_',
  'LC_token',
  'path',
];

describe('toolEnvironment', () => {
  it('hands on what programs need and nothing else', () => {
    const inherited = Object.fromEntries([...posix, 'LC_ALL', ...secrets].map((name) => [name, `value of ${name}`]));
    assert.deepEqual(Object.keys(toolEnvironment(inherited, {}, 'linux')).sort(), [...posix, 'LC_ALL'].sort());
  });

  it('adds what the definition says, which wins', () => {
    assert.deepEqual(toolEnvironment({ PATH: '/a', HOME: '/h' }, { PATH: '/b', GITHUB_TOKEN: 'x' }, 'darwin'), {
      PATH: '/b',
      HOME: '/h',
      GITHUB_TOKEN: 'x',
    });
  });

  it('does not tell capitals apart on Windows', () => {
    const environment = toolEnvironment({ Path: 'a', systemroot: 'C', secret: 's' }, { PATH: 'b' }, 'win32');
    assert.deepEqual(environment, { systemroot: 'C', PATH: 'b' });
    assert.equal(variable({ Path: 'a' }, 'PATH', 'win32'), 'a');
    assert.equal(variable({ Path: 'a' }, 'PATH', 'linux'), undefined);
  });

  it('whatever is inherited: a variable is allowed or was added, and nothing is changed', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom(...posix, ...secrets, 'LC_ALL', '__proto__'));
    const variables = fc.array(fc.tuple(name, fc.string())).map((entries) => Object.fromEntries(entries));
    fc.assert(
      fc.property(variables, variables, (inherited, additions) => {
        for (const [key, value] of Object.entries(toolEnvironment(inherited, additions, 'linux'))) {
          if (Object.hasOwn(additions, key)) assert.equal(value, additions[key]);
          else {
            assert.ok(posix.includes(key) || /^LC_[A-Z]+$/.test(key), key);
            assert.equal(value, inherited[key]);
          }
        }
      }),
    );
  });
});
