import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import {
  type HandshakeParams,
  type HandshakeResult,
  handshakeAsClient,
  handshakeAsServer,
  isSameProof,
  proofOf,
} from '../../../../../src/core/oauth/rotation/handshake.ts';
import { type IpcServer, LineSocket, startIpcServer } from '../../../../../src/core/oauth/rotation/ipc.ts';
import { PROTOCOL, type Protocol } from '../../../../../src/core/oauth/rotation/protocol.ts';

const key = randomBytes(32);
const later: Protocol = { version: 2, oldest: 1, extras: { colour: 'blue' } };
const incompatible: Protocol = { version: 3, oldest: 2 };

describe('windows prove to each other that they are this user’s', () => {
  const endpoints: IpcServer[] = [];
  afterEach(async () => {
    await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
  });

  /** Both verdicts of one meeting. `caller` and `listener` say what each side believes. */
  async function meet(
    caller: Partial<HandshakeParams>,
    listener: Partial<HandshakeParams>,
  ): Promise<{ caller: HandshakeResult; listener: HandshakeResult }> {
    const sides = promised<HandshakeResult>();
    const endpoint = await startIpcServer(async (line, address) => {
      sides.resolve(await handshakeAsServer(line, { role: 'holder', address, key, protocol: PROTOCOL, ...listener }));
    });
    endpoints.push(endpoint);
    const line = LineSocket.connect(endpoint.address);
    const proving: HandshakeParams = { role: 'holder', address: endpoint.address, key, protocol: PROTOCOL, ...caller };
    const verdict = await handshakeAsClient(line, proving);
    if (verdict !== 'proven') line.close();
    const other = await sides.promise;
    line.close();
    return { caller: verdict, listener: other };
  }

  const meetings: [
    name: string,
    Partial<HandshakeParams>,
    Partial<HandshakeParams>,
    caller: HandshakeResult,
    listener: HandshakeResult,
  ][] = [
    ['the same key', {}, {}, 'proven', 'proven'],
    ['a later version of the caller', { protocol: later }, {}, 'proven', 'proven'],
    ['a later version of the listener', {}, { protocol: later }, 'proven', 'proven'],
    ['a version that the listener does not know', { protocol: incompatible }, {}, 'newer', 'newer'],
    ['a version that the caller does not know', {}, { protocol: incompatible }, 'newer', 'newer'],
    ['another key', {}, { key: randomBytes(32) }, 'stranger', 'closed'],
    ['another role', { role: 'window' }, {}, 'stranger', 'closed'],
    ['another address: somebody passes the messages on', {}, { address: '/tmp/rlc-real/s' }, 'stranger', 'closed'],
  ];
  for (const [name, caller, listener, expectedCaller, expectedListener] of meetings) {
    it(`${name}: ${expectedCaller}`, async () => {
      assert.deepEqual(await meet(caller, listener), { caller: expectedCaller, listener: expectedListener });
    });
  }

  it('the listener refuses a caller who does not know the key but skips the check', async () => {
    const verdict = promised<HandshakeResult>();
    const endpoint = await startIpcServer(async (line, address) => {
      verdict.resolve(await handshakeAsServer(line, { role: 'window', address, key, protocol: PROTOCOL }));
    });
    endpoints.push(endpoint);
    const line = LineSocket.connect(endpoint.address);
    line.send({ version: 1, oldest: 1, nonce: 'n'.repeat(32) });
    await line.next();
    const theirs = (await line.next()) ?? '';
    line.send(JSON.parse(theirs)); // Sends the listener's own proof back.
    assert.equal(await verdict.promise, 'stranger');
    line.close();
  });

  it('the caller says nothing that proves anything before the listener has proven', async () => {
    const heard: string[] = [];
    const endpoint = await startIpcServer(async (line) => {
      heard.push((await line.next()) ?? '');
      line.send({ version: 1, oldest: 1, nonce: 'n'.repeat(32) });
      line.send({ proof: 'x' });
      const more = await line.next();
      if (more !== undefined) heard.push(more);
    });
    endpoints.push(endpoint);
    const line = LineSocket.connect(endpoint.address);
    assert.equal(
      await handshakeAsClient(line, { role: 'window', address: endpoint.address, key, protocol: PROTOCOL }),
      'stranger',
    );
    line.close();
    await line.closed;
    assert.equal(heard.length, 1);
    assert.ok(!heard[0]?.includes('proof'));
  });

  const garbage = [
    '',
    'hello',
    '[]',
    '{"version":1}',
    '{"version":1,"oldest":1}',
    '{"version":1,"oldest":1,"nonce":"short"}',
  ];
  for (const text of garbage) {
    it(`takes ${text === '' ? 'an empty line' : text} for a stranger`, async () => {
      const server = net.createServer((socket) => void socket.write(`${text}\n`));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
      const line = new LineSocket(socket);
      assert.equal(
        await handshakeAsClient(line, { role: 'window', address: 'a', key, protocol: PROTOCOL }),
        'stranger',
      );
      line.close();
      server.close();
    });
  }

  it('binds every part of the meeting', () => {
    const proving: HandshakeParams = { role: 'holder', address: '/a', key, protocol: PROTOCOL };
    const proofs = [
      proofOf('caller', proving, 'hello', 'answer'),
      proofOf('listener', proving, 'hello', 'answer'),
      proofOf('caller', { ...proving, role: 'window' }, 'hello', 'answer'),
      proofOf('caller', { ...proving, address: '/b' }, 'hello', 'answer'),
      proofOf('caller', { ...proving, key: randomBytes(32) }, 'hello', 'answer'),
      proofOf('caller', proving, 'hello2', 'answer'),
      proofOf('caller', proving, 'hello', 'answer2'),
      proofOf('caller', proving, 'helloanswer', ''),
    ];
    assert.equal(new Set(proofs).size, proofs.length);
    assert.ok(isSameProof(proofs[0] ?? '', proofOf('caller', proving, 'hello', 'answer')));
    assert.ok(!isSameProof('', proofs[0] ?? ''));
    assert.ok(!isSameProof((proofs[0] ?? '').slice(1), proofs[0] ?? ''));
  });

  it('cuts off who sends without an end', async () => {
    const endpoint = await startIpcServer(async (line) => {
      await line.next();
    });
    endpoints.push(endpoint);
    const socket = net.connect({ path: endpoint.address });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('x'.repeat(100_000));
    await closed;
  });
});

function promised<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
