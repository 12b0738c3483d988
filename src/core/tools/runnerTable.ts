/** A program that runs code it finds in the workspace, in more files than its arguments name. */
export interface Runner {
  readonly names: RegExp;
  /** Only where the words behind the program, each after a blank, match. */
  readonly with?: RegExp;
  /** Where it begins to read, in the working folder, in a folder that an argument names, or above them. */
  readonly files?: readonly string[];
}

const packageFiles = ['package.json', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml'];

/**
 * Whoever always allows one of these allows code that can change without Rolecall seeing it, so "always" is not offered.
 * Names by the kind of project they belong to; no such list can be complete.
 */
export const runners: readonly Runner[] = [
  // JavaScript: scripts of package.json, and configurations that are code.
  { names: /^(?:npm|npx|pnpm|pnpx|yarn|yarnpkg|bun|bunx|corepack|lerna|nx|turbo|rush)$/, files: packageFiles },
  { names: /^(?:node|nodejs)$/, with: / --(?:run|test|watch)\b/, files: packageFiles },
  { names: /^deno$/, with: / (?:task|test|bench)\b/, files: ['deno.json', 'deno.jsonc', 'package.json'] },
  { names: /^(?:eslint|prettier|stylelint|commitlint|lint-staged|knip|typedoc|nodemon|pm2)$/, files: packageFiles },
  { names: /^(?:jest|vitest|mocha|ava|tap|karma|cypress|playwright|c8|nyc)$/, files: packageFiles },
  { names: /^(?:webpack|vite|rollup|parcel|gulp|grunt|babel|next|nuxt|astro|ng|storybook)$/, files: packageFiles },

  // Builds and tasks of any language.
  { names: /^(?:[gbnp]|mingw32-)?make$/, files: ['GNUmakefile', 'makefile', 'Makefile'] },
  {
    names: /^(?:cmake|ctest|ninja|meson)$/,
    files: ['CMakeLists.txt', 'CMakePresets.json', 'build.ninja', 'meson.build'],
  },
  { names: /^(?:bazel|bazelisk|buck2?|pants|scons|waf|xmake)$/, files: ['MODULE.bazel', 'BUILD.bazel', 'SConstruct'] },
  { names: /^(?:just|task|go-task|mage|earthly|act)$/, files: ['justfile', 'Justfile', 'Taskfile.yml', 'Earthfile'] },
  {
    names: /^(?:pre-commit|lefthook|husky|foreman|honcho)$/,
    files: ['.pre-commit-config.yaml', 'lefthook.yml', 'Procfile'],
  },
  { names: /^(?:run-parts|direnv)$/, files: ['.envrc'] },

  // Other languages' own.
  {
    names: /^(?:gradlew?|mvnw?|mvnd|ant|sbt|mill|lein)$/,
    files: ['build.gradle', 'build.gradle.kts', 'pom.xml', 'build.xml', 'build.sbt'],
  },
  { names: /^cargo$/, files: ['Cargo.toml', 'build.rs', '.cargo/config.toml'] },
  { names: /^go$/, with: / (?:run|test|generate|tool|build|install)\b/, files: ['go.mod'] },
  {
    names: /^(?:dotnet|msbuild|xcodebuild|stack|cabal|dune|opam|mix|rebar3|flutter|dart)$/,
    files: ['Directory.Build.props', 'mix.exs'],
  },
  { names: /^(?:swift|zig)$/, with: / (?:run|test|build|package)\b/, files: ['Package.swift', 'build.zig'] },
  { names: /^(?:composer|phpunit|pest|phpstan|artisan)$/, files: ['composer.json', 'phpunit.xml'] },
  { names: /^(?:bundle|rake|rspec|rails|rubocop|cucumber|guard|thor)$/, files: ['Gemfile', 'Rakefile'] },
  {
    names: /^(?:pytest|py\.test|unittest|coverage|tox|nox|invoke|inv|fab|mypy|pylint|sphinx-build|mkdocs)$/,
    files: ['pyproject.toml', 'setup.cfg', 'tox.ini', 'noxfile.py', 'tasks.py', 'conftest.py'],
  },
  {
    names: /^(?:pip[\d.]*|pipx|pipenv|poetry|pdm|hatch|uv|uvx|rye|pixi|setup\.py)$/,
    files: ['pyproject.toml', 'setup.py'],
  },

  // Machines and containers that are described in the workspace.
  {
    names: /^(?:docker|podman|nerdctl|docker-compose|podman-compose|buildah)$/,
    with: / (?:build|buildx|bake|compose|create|exec|run|start|up)\b/,
    files: ['Dockerfile', 'compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
  },
  {
    names: /^(?:terraform|tofu|terragrunt|pulumi|cdk|sam|serverless|skaffold|tilt|vagrant|packer)$/,
    files: ['Vagrantfile'],
  },
  {
    names: /^(?:ansible(?:-\w+)?|nix(?:-\w+)?|devbox|guix)$/,
    files: ['ansible.cfg', 'flake.nix', 'default.nix', 'shell.nix'],
  },

  // Hooks and filters.
  {
    names: /^git$/,
    with: / (?:am|bisect|checkout|cherry-pick|commit|difftool|gc|merge|mergetool|pull|push|rebase|revert|stash|submodule|switch|worktree)\b/,
    files: [
      '.git/config',
      '.git/hooks/pre-commit',
      '.git/hooks/pre-push',
      '.git/hooks/post-checkout',
      '.gitattributes',
    ],
  },
  // Interpreters on files that are found while it runs.
  {
    names: /^(?:g?find|fd|xargs|parallel)$/,
    with: / (?:\S*[\\/])?(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby|php)(?: |$)/,
  },
  { names: /^(?:g?find|fd)$/, with: / (?:-(?:exec|ok)(?:dir)?|-[xX]|--exec(?:-batch)?) \{/ },
];

/** Programs that were installed into the workspace: they load what lies beside them. */
export const installed = /(?:^|[\\/])(?:node_modules|\.?venv|vendor)[\\/]/;

/** Commands of the editor that run what the workspace defines. */
export const runsWorkspace =
  /^(?:workbench\.action\.(?:tasks|debug|terminal\.run\w+)\b|testing\.|notebook\.\w*execute|npm\.|gulp\.|grunt\.|code-runner\.)/i;
