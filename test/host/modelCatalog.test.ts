import assert from 'node:assert/strict';
import { addFault, clearFaults, descriptor } from './support/sandbox.ts';
import { signInAs, useScene } from './support/scene.ts';
import { until } from './support/wait.ts';

const listed = descriptor.models.map(({ id }) => id);
const never = new AbortController().signal;

describe('the catalog of models', () => {
  const scene = useScene();
  afterEach(clearFaults);

  /** From now on requests wait for ever. @returns those that have not been given up. */
  function neverAnswers(): ReadonlySet<unknown> {
    const waiting = new Set<unknown>();
    scene().network = (_, init) => {
      waiting.add(init);
      init?.signal?.addEventListener('abort', () => waiting.delete(init));
      return new Promise(() => {});
    };
    return waiting;
  }

  it('offers what the service lists once somebody is signed in, and nothing before or after', async () => {
    const catalog = scene().catalog();
    const cloud = await scene().startService();
    assert.equal(catalog.models.length, 0);
    await signInAs(cloud, 'administrator');
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      listed,
    );
    assert.equal(catalog.models[2]?.contextLength, descriptor.models[2]?.contextLength);
    await cloud.tokenManager.signOut();
    assert.deepEqual(catalog.models, []);
  });

  it('calls no list empty that has not come yet', async () => {
    const cloud = await scene().startService();
    neverAnswers();
    const catalog = scene().catalog();
    await signInAs(cloud, 'administrator');
    assert.equal(catalog.whyNone().kind, 'timeout');
  });

  it('puts the models that the user describes first, in their words', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [
      { id: 'sandbox/ngram', label: 'Small', maxOutput: 7 },
      { id: 'mine/only', contextLength: 99, vision: true },
    ];
    await signInAs(await scene().startService(), 'administrator');
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      ['sandbox/ngram', 'mine/only', ...listed.filter((id) => id !== 'sandbox/ngram')],
    );
    // The user says nothing about its length: the service does.
    const [first, second] = catalog.models;
    assert.deepEqual(first, {
      id: 'sandbox/ngram',
      label: 'Small',
      contextLength: 2048,
      maxOutput: 7,
      isLengthKnown: true,
      vision: false,
    });
    assert.deepEqual(
      { label: second?.label, contextLength: second?.contextLength, vision: second?.vision },
      { label: 'mine/only', contextLength: 99, vision: true },
    );
  });

  it('does not mix the models of the user’s own services into the sandbox', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'mine/only' }];
    await scene().clouds.start();
    await signInAs(scene().enterSandbox(), 'administrator');
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      listed,
    );
    scene().clouds.leaveSandbox();
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      ['mine/only'],
    );
  });

  it('chooses the model that is named, else the user’s default, else the first', () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    scene().settings.preferred = 'b';
    const choices = [catalog.choose('c'), catalog.choose(undefined), catalog.choose('gone')];
    scene().settings.preferred = 'gone too';
    choices.push(catalog.choose(undefined));
    assert.deepEqual(
      choices.map((model) => model?.id),
      ['c', 'b', 'b', 'a'],
    );
    scene().settings.described = [];
    assert.equal(catalog.choose('c'), undefined);
  });

  it('knows what the user says about a model, and whether anybody said how long it is', () => {
    const catalog = scene().catalog();
    scene().settings.described = [
      { id: 'a', tools: false, reasoning: true },
      { id: 'b', contextLength: 9 },
    ];
    const [a, b] = catalog.models;
    assert.deepEqual([a?.tools, a?.reasoning, a?.isLengthKnown], [false, true, false]);
    assert.deepEqual([b?.tools, b?.reasoning, b?.isLengthKnown], [undefined, undefined, true]);
  });

  it('remembers what was picked in this window, while it is there', () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'a' }, { id: 'b' }];
    assert.equal(catalog.picked?.id, 'a');
    catalog.pick('b');
    assert.deepEqual([catalog.picked?.id, catalog.choose(undefined)?.id], ['b', 'a']);
    scene().settings.described = [{ id: 'a' }];
    assert.equal(catalog.picked?.id, 'a');
  });

  it('tells when the user describes other models, also while signed in', async () => {
    const catalog = scene().catalog();
    await signInAs(await scene().startService(), 'administrator');
    await catalog.ready(never);
    let changes = 0;
    catalog.onDidChange(() => {
      changes += 1;
    });
    scene().settings.described = [{ id: 'mine/only' }];
    scene().settings.change();
    assert.notEqual(changes, 0);
  });

  it('asks once per session, however often it changes', async () => {
    const catalog = scene().catalog();
    const cloud = await scene().startService();
    await signInAs(cloud, 'administrator');
    await catalog.ready(never);
    await signInAs(cloud, 'administrator');
    scene().settings.change();
    await catalog.ready(never);
    assert.deepEqual(scene().asked, [`${descriptor.inference}/v1/models`]);
  });

  it('asks again after a failure instead of offering nothing until the next sign-in', async () => {
    const catalog = scene().catalog();
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 500, times: 1 });
    await signInAs(await scene().startService(), 'administrator');
    await until('the list failed', () => scene().log.lines.some((line) => /could not be read/.test(line)));
    assert.deepEqual(catalog.models, []);
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      listed,
    );
  });

  it('takes a service without a list as one without a list', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'mine/only' }];
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
    await signInAs(await scene().startService(), 'administrator');
    await catalog.ready(never);
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      ['mine/only'],
    );
    assert.equal(scene().asked.length, 1);
  });

  it('drops the models of an account that has left while they were on their way', async () => {
    const catalog = scene().catalog();
    let answer = (_response: Response) => {};
    scene().network = () => new Promise((resolve) => (answer = resolve));
    const cloud = await scene().startService();
    await signInAs(cloud, 'administrator');
    await until('the first asking', () => scene().asked.length === 1);
    const late = answer;
    scene().network = async () => Response.json({ data: [{ id: 'of/the-second' }] });
    await signInAs(cloud, 'ordinaryUser');
    await catalog.ready(never);
    const first = Response.json({ data: [{ id: 'of/the-first' }] });
    late(first);
    await until('it has been read', () => first.bodyUsed);
    await catalog.ready(never);
    assert.deepEqual(
      catalog.models.map(({ id }) => id),
      ['of/the-second'],
    );
    assert.equal(scene().asked.filter((address) => address.endsWith('/models')).length, 2);
  });

  it('does not wait for the list where it cannot change what is chosen', async () => {
    const catalog = scene().catalog();
    const waiting = neverAnswers();
    await signInAs(await scene().startService(), 'administrator');
    scene().settings.described = [{ id: 'a' }, { id: 'b' }];
    assert.equal((await catalog.resolve('b', never))?.id, 'b');
    assert.equal((await catalog.resolve(undefined, never))?.id, 'a');
    scene().settings.preferred = 'b';
    assert.equal((await catalog.resolve(undefined, never))?.id, 'b');
    catalog.pick('a');
    assert.equal((await catalog.resolvePicked(never))?.id, 'a');
    assert.equal(waiting.size, 1);
  });

  it('waits for the list where the model may stand in it', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'a' }];
    await signInAs(await scene().startService(), 'administrator');
    assert.equal((await catalog.resolve(listed[0], never))?.id, listed[0]);
  });

  it('waits once for a list that fails', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'a' }];
    scene().network = async () => new Response('', { status: 500 });
    await signInAs(await scene().startService(), 'administrator');
    await catalog.ready(never);
    const waiting = neverAnswers();
    assert.equal((await catalog.resolve('elsewhere', never))?.id, 'a');
    await until('it is asked for, without anybody who waits', () => waiting.size === 1);
  });

  it('does not hold up somebody who stops waiting', async () => {
    const catalog = scene().catalog();
    scene().network = () => new Promise(() => {});
    await signInAs(await scene().startService(), 'administrator');
    await catalog.ready(AbortSignal.timeout(20));
    assert.deepEqual(catalog.models, []);
  });

  it('takes the sandbox’s own words for its models, and not the user’s', async () => {
    const catalog = scene().catalog();
    scene().settings.described = [{ id: 'sandbox/vision', vision: false }];
    catalog.describeSandbox(descriptor.models);
    await signInAs(scene().enterSandbox(), 'administrator');
    await catalog.ready(never);
    const of = (id: string) => catalog.models.find((model) => model.id === id);
    assert.equal(of('sandbox/vision')?.vision, true);
    assert.equal(of('sandbox/guide')?.reasoning, true);
    assert.equal(of('sandbox/no-tools')?.tools, false);
    assert.equal(catalog.models.length, descriptor.models.length);
  });
});
