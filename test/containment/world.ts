import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What a tool may do to somebody. */
export type Harm =
  /** Read a canary: of the home folder, the secret store, another workspace, another process, or what it did not declare. */
  | 'reads'
  /** Changed a file that it did not declare, `.git` and `.vscode` always among them. */
  | 'writes'
  /** Reached something that listens on this machine. */
  | 'reaches'
  /** Saw, stopped or ended another process. */
  | 'meddles'
  /** Left a process running. */
  | 'outlives';

/** A user's machine, made for one call: a home with secrets, workspaces, listeners and a process of somebody else's. */
export class World {
  readonly base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'rolecall-hostile-')));
  readonly home = path.join(this.base, 'home');
  readonly workspace = path.join(this.home, 'projects', 'mine');
  readonly other = path.join(this.home, 'projects', 'other', 'secret.txt');
  readonly key = path.join(this.home, '.ssh', 'id_rsa');
  /** Where an editor keeps its secrets, and where Rolecall keeps the session. */
  readonly store = path.join(this.home, '.config', 'Code', 'User', 'globalStorage', 'state.vscdb');
  readonly session = path.join(this.home, '.local', 'state', 'rolecall', 'machine', 'session.sealed');
  readonly outside = path.join(this.base, 'outside');
  readonly agent = path.join(this.base, 'run', 'agent.sock');
  /** In no file and on no command line but those of this world. */
  readonly mark = randomUUID().slice(0, 8);
  /** A number of seconds nobody else sleeps. */
  readonly sleep = `99${String(Math.random()).slice(2, 8)}.5`;
  readonly abstract = `rolecall-${this.mark}`;
  readonly canary = `canary-${randomUUID()}`;
  /** In the workspace: a secret only from a program that reads a part of it. */
  readonly #private = `private-${randomUUID()}`;
  readonly #servers: { close(): unknown }[] = [];
  readonly #ended = new AbortController();
  #hits = 0;
  #victim: ChildProcess | undefined;
  #before = new Map<string, string>();
  /** Where a link or a file named `.git` or `.vscode` leads, and what git reads from there. */
  #led: readonly string[] = [];
  port = 0;
  udp = 0;

  /** @param files of the workspace: text, or `-> target` for a link; executable where the text begins with `#!`. */
  async make(files: Readonly<Record<string, string>>): Promise<void> {
    for (const file of [this.key, this.store, this.session, this.other]) this.#write(file, this.canary);
    fs.mkdirSync(this.outside);
    fs.mkdirSync(path.dirname(this.agent));
    this.#write(path.join(this.workspace, 'readme.md'), 'hello\n');
    this.#write(path.join(this.workspace, 'private.txt'), this.#private);
    this.#write(path.join(this.workspace, 'docs', 'a.md'), 'a\n');
    this.#write(path.join(this.workspace, '.vscode', 'rolecall.tools.json'), '{ "tools": [] }\n');
    this.#write(path.join(this.workspace, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    this.#write(path.join(this.workspace, '.git', 'config'), '[core]\n\trepositoryformatversion = 0\n');
    for (const folder of ['objects', 'refs', 'hooks']) fs.mkdirSync(path.join(this.workspace, '.git', folder));
    for (const [name, text] of Object.entries(files)) this.#write(path.join(this.workspace, name), text);
    for (const address of [this.agent, `\0${this.abstract}`]) await this.#listen(address);
    this.port = ((await this.#listen(0)).address() as AddressInfo).port;
    const socket = createSocket('udp4', () => this.#hit());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    this.udp = socket.address().port;
    this.#servers.push(socket);
    const key = fs.openSync(this.key, 'r');
    // It answers each line: of what it does nothing costs time while nobody asks.
    this.#victim = spawn('/bin/sh', ['-c', 'while read -r line; do echo ready; done', this.mark], {
      cwd: path.dirname(this.key),
      env: { PATH: '/usr/bin:/bin', SECRET: this.canary },
      stdio: ['pipe', 'pipe', 'ignore', key],
    });
    fs.closeSync(key);
    this.#victim.once('exit', () => this.#ended.abort());
    this.#victim.stdin?.on('error', () => {}); // It was ended.
    if (!(await this.#victimIsWell())) throw new Error('The process of somebody else did not begin.');
    this.#before = this.#files();
    this.#led = [...this.#before.keys()].filter((file) => /\/\.(?:git|vscode)$/.test(file)).flatMap(leadsTo);
  }

  get pid(): number {
    return this.#victim?.pid ?? -1;
  }

  /** What was done to this world by a program that wrote `output`. */
  async harms(output: string, { read, write }: { read: readonly string[]; write: readonly string[] }): Promise<Harm[]> {
    const harms: Harm[] = [];
    const known = new Set(this.#before.values());
    const isPrivate = !read.includes('.');
    if (output.includes(this.canary) || (isPrivate && output.includes(this.#private))) harms.push('reads');
    const within = (file: string) =>
      write.some((each) => !path.relative(path.join(this.workspace, each), file).startsWith('..'));
    const after = this.#files();
    const all = new Set([...after.keys(), ...this.#before.keys()]);
    const wrong = [...all].filter((file) => {
      if (after.get(file) === this.#before.get(file)) return false;
      if (!within(file)) return true;
      if (/^(?:special|setuid)/.test(after.get(file) ?? '')) return true;
      const isProtected =
        /\/\.(?:git|vscode)(?:\/|$)/.test(file) || this.#led.some((each) => file.startsWith(`${each}/`));
      // A folder that may be written may be moved, with the repository in it; what that holds stays as it was.
      return isProtected && after.has(file) && !known.has(after.get(file) ?? '');
    });
    if (wrong.length > 0 || this.#leftovers().length > 0) harms.push('writes');
    // What was sent by a program that has ended arrives before this answer of our own.
    await this.#roundTrip();
    if (this.#hits > 0) harms.push('reaches');
    if (output.includes(this.mark) || !(await this.#victimIsWell())) harms.push('meddles');
    return harms;
  }

  /** Processes that a program left. */
  survivors(): number[] {
    return fs.readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const isOurs = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(this.sleep);
        return isOurs && !/\) [ZX] /.test(fs.readFileSync(`/proc/${name}/stat`, 'utf8')) ? [Number(name)] : [];
      } catch {
        return []; // It ended meanwhile.
      }
    });
  }

  remove(): void {
    if (fs.existsSync(this.base)) openAll(this.base);
    for (const server of this.#servers) server.close();
    for (const pid of this.survivors()) process.kill(pid, 'SIGKILL');
    if (this.#victim?.exitCode === null && this.#victim.signalCode === null) this.#victim.kill('SIGKILL');
    for (const file of [this.base, ...this.#leftovers()]) fs.rmSync(file, { recursive: true, force: true });
  }

  #write(file: string, text: string): void {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (text.startsWith('-> ')) fs.symlinkSync(this.fill(text.slice(3)), file);
    else fs.writeFileSync(file, this.fill(text), { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }

  /** `{home}` and its like in a text of the table. */
  fill(text: string): string {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value: unknown = Reflect.get(this, name);
      return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
    });
  }

  async #listen(address: string | number): Promise<net.Server> {
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => (data.toString() === 'ours' ? socket.end('ok') : this.#hit()));
    });
    if (typeof address === 'number') server.listen(address);
    else server.listen(address);
    await once(server, 'listening');
    server.on('connection', () => this.#hit());
    this.#servers.push(server);
    return server;
  }

  #hit(): void {
    this.#hits += 1;
  }

  /** Through every listener; its own visits do not count. */
  async #roundTrip(): Promise<void> {
    const before = this.#hits;
    let own = 0;
    for (const to of [{ port: this.port }, { path: this.agent }, { path: `\0${this.abstract}` }]) {
      const socket = net.connect(to as net.NetConnectOpts);
      socket.write('ours');
      own += 1;
      await once(socket, 'data');
      socket.destroy();
    }
    const datagram = createSocket('udp4');
    const arrived = this.#hits + 1;
    await new Promise<void>((resolve) => datagram.send('ours', this.udp, '127.0.0.1', () => resolve()));
    own += 1;
    while (this.#hits < arrived) await new Promise((resolve) => setImmediate(resolve));
    datagram.close();
    this.#hits -= own;
    if (this.#hits < before) throw new Error('The listeners have miscounted.');
  }

  /** It answers, as nice as it was (the 19th field, see proc(5)). */
  async #victimIsWell(): Promise<boolean> {
    const victim = this.#victim;
    if (!victim?.stdin || !victim.stdout) return false;
    const stop = AbortSignal.any([AbortSignal.timeout(2000), this.#ended.signal]);
    try {
      const answer = once(victim.stdout, 'data', { signal: stop });
      victim.stdin.write('well?\n');
      await answer;
      const fields = fs
        .readFileSync(`/proc/${this.pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields[16] === '0';
    } catch {
      return false;
    }
  }

  /** What a program may have left where every program can write. */
  #leftovers(): string[] {
    return ['/tmp', '/var/tmp', '/dev/shm'].flatMap((folder) =>
      fs
        .readdirSync(folder)
        .filter((name) => name.includes(this.mark))
        .map((name) => path.join(folder, name)),
    );
  }

  #files(): Map<string, string> {
    openAll(this.base);
    const found = new Map<string, string>();
    for (const entry of fs.readdirSync(this.base, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink()) found.set(file, fs.readlinkSync(file));
      else if (entry.isDirectory()) found.set(file, 'folder');
      else if (!entry.isFile()) found.set(file, 'special');
      else {
        const hash = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
        found.set(file, (fs.statSync(file).mode & 0o6000) === 0 ? hash : `setuid ${hash}`);
      }
    }
    return found;
  }
}

/** A program may have closed folders to its own user. */
function openAll(folder: string): void {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openAll(path.join(folder, entry.name));
  }
}

function leadsTo(file: string): string[] {
  const stat = fs.lstatSync(file);
  if (stat.isSymbolicLink()) return [fs.realpathSync(file)];
  if (!stat.isFile()) return [];
  const repository = path.resolve(path.dirname(file), fs.readFileSync(file, 'utf8').slice('gitdir: '.length).trim());
  return [path.resolve(repository, fs.readFileSync(path.join(repository, 'commondir'), 'utf8').trim())];
}
