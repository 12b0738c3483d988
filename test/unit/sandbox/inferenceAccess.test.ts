import assert from 'node:assert/strict';
import { choiceOf, contentOf, InferenceHarness, tool, user } from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const text = { type: 'string' };
const tools = [
  tool('list_groups', 'Lists groups.', { organization: text, filter: text }),
  tool('list_roles', 'Lists roles.', { organization: text, filter: text }),
  tool('who_has_role', 'Says who has a role.', { role: text, organization: text }, ['role']),
  tool('effective_access', 'Says what somebody can reach.', { who: text, organization: text }, ['who']),
];
const briefing = {
  role: 'system',
  content:
    'Groups bind people to roles. Answer only from what the identity service says. The user’s organizations: meridian (Meridian), big-sky (Big Sky). Find it out with the tools.',
};

async function callsTo(messages: object[], offered = tools): Promise<string[]> {
  const { message } = choiceOf(await service.complete({ model: 'sandbox/guide', messages, tools: offered }));
  return message.tool_calls.map(({ function: fn }) => `${fn.name}(${fn.arguments})`);
}

/** The history after each call was answered with what `answers` says of its arguments. */
async function afterRound(messages: object[], answers: (args: Record<string, string>) => string): Promise<object[]> {
  const { message } = choiceOf(await service.complete({ model: 'sandbox/guide', messages, tools }));
  return [
    ...messages,
    { role: 'assistant', content: message.content, tool_calls: message.tool_calls },
    ...message.tool_calls.map(({ id, function: fn }) => ({
      role: 'tool',
      tool_call_id: id,
      content: answers(JSON.parse(fn.arguments ?? '{}')),
    })),
  ];
}

describe('sandbox inference: questions about access', () => {
  const both = (name: string, args: object): string[] =>
    ['meridian', 'big-sky'].map((organization) => `${name}(${JSON.stringify({ ...args, organization })})`);
  const rows: [question: string, calls: string[]][] = [
    ['who can administer meridian?', ['who_has_role({"role":"administrator","organization":"meridian"})']],
    ['Who can administer Big Sky?', ['who_has_role({"role":"administrator","organization":"big-sky"})']],
    ['who are the administrators of meridian', ['who_has_role({"role":"administrator","organization":"meridian"})']],
    ['Who can change who has access?', both('who_has_role', { role: 'administrator' })],
    [
      'who has the cluster-operator role in meridian?',
      ['who_has_role({"role":"cluster-operator","organization":"meridian"})'],
    ],
    ['who has `reader`?', both('who_has_role', { role: 'reader' })],
    ['who is in break-glass?', both('list_groups', { filter: 'name:break-glass' })],
    ['members of the group finance in meridian', ['list_groups({"filter":"name:finance","organization":"meridian"})']],
    ['what can dora.haddad reach?', both('effective_access', { who: 'dora.haddad' })],
    [
      'what access does ada.moreau@meridian.example have in meridian?',
      ['effective_access({"who":"ada.moreau@meridian.example","organization":"meridian"})'],
    ],
    ['which roles does emil.novak have?', both('effective_access', { who: 'emil.novak' })],
    ['which groups of meridian are unhealthy?', both('list_groups', { filter: '-health:healthy' })],
    ['list the groups in big-sky', ['list_groups({"organization":"big-sky"})']],
    ['which groups are in error?', both('list_groups', { filter: 'health:error' })],
    ['what roles are there in meridian?', ['list_roles({"organization":"meridian"})']],
    ['who can administer elsewhere?', ['who_has_role({"role":"administrator","organization":"elsewhere"})']],
    ['run list_roles with organization=meridian', ['list_roles({"organization":"meridian"})']],
    // As Ask @rolecall About This words it.
    [
      'Who has the role "cluster operator", and through which groups? Organization: "big-sky"',
      ['who_has_role({"role":"cluster operator","organization":"big-sky"})'],
    ],
    [
      'Who is in the group "finance", and which roles does it give them? Organization: "meridian"',
      ['list_groups({"filter":"name:finance","organization":"meridian"})'],
    ],
    [
      'What is the effective access of "a.b@c.example"? Organization: "meridian"',
      ['effective_access({"who":"a.b@c.example","organization":"meridian"})'],
    ],
    [
      'Which groups need attention, and why? Organization: "meridian"',
      ['list_groups({"filter":"-health:healthy","organization":"meridian"})'],
    ],
    ['what is a group?', []],
    ['what can you do?', []],
    ['what does this do?', []],
  ];
  for (const [question, calls] of rows)
    it(`"${question}" → ${calls.join(', ') || 'words'}`, async () => {
      assert.deepEqual(await callsTo([briefing, user(question)]), calls);
    });

  it('calls the tools also under the names that other clients see', async () => {
    const offered = [tool('rolecall_who_has_role', '', { role: text, organization: text }, ['role'])];
    assert.deepEqual(await callsTo([user('who can administer meridian?')], offered), [
      'rolecall_who_has_role({"role":"administrator","organization":"meridian"})',
    ]);
  });

  it('asks again with each organization that a tool names', async () => {
    const messages = [user('what can dora.haddad reach?')];
    assert.deepEqual(await callsTo(messages), ['effective_access({"who":"dora.haddad"})']);
    const second = await afterRound(messages, () => 'Which organization? The organizations are: meridian, big-sky.');
    assert.deepEqual(await callsTo(second), both('effective_access', { who: 'dora.haddad' }));
    assert.deepEqual(await callsTo(await afterRound(second, () => '2 roles.')), []);
  });

  it('stays with the organization that the conversation is about', async () => {
    const first = await afterRound([briefing, user('who can administer meridian?')], () => 'Ada');
    const next = [...first, { role: 'assistant', content: 'Ada.' }, user('what can dora.haddad reach?')];
    assert.deepEqual(await callsTo(next), ['effective_access({"who":"dora.haddad","organization":"meridian"})']);
  });

  it('tells the members of a group from who has one of its roles', async () => {
    const asked = [briefing, user('who is in finance in meridian?')];
    const listed = await afterRound(
      asked,
      () => 'Groups of meridian: 1 of 12.\n\nfinance (id g-1): 1 subject, 1 user ID; grants billing-viewer; tag a=b',
    );
    assert.deepEqual(await callsTo(listed), ['who_has_role({"role":"billing-viewer","organization":"meridian"})']);
    const told = await afterRound(
      listed,
      () =>
        'billing-viewer (id r-1) in meridian: 2 holders.\n\nines@m.example (subject, id 8) through finance (id g-1)\nx (user, id 9) through other (id g-2)',
    );
    const answer = contentOf(await service.complete({ model: 'sandbox/guide', messages: told, tools, seed: 1 }));
    assert.equal(answer, 'Members of finance:\n\n- ines@m.example');
  });

  it('tells every member of a group', async () => {
    const asked = [briefing, user('who is in finance in meridian?')];
    const listed = await afterRound(
      asked,
      () => 'Groups of meridian: 1 of 12.\n\nfinance (id g-1): 12 subjects; grants billing-viewer',
    );
    const people = Array.from(
      { length: 12 },
      (_, at) => `p${at}@m.example (subject, id ${at}) through finance (id g-1)`,
    );
    const told = await afterRound(listed, () => ['billing-viewer (id r-1) in meridian: 12.', '', ...people].join('\n'));
    const answer = contentOf(await service.complete({ model: 'sandbox/guide', messages: told, tools, seed: 1 }));
    assert.match(answer, /- p0@m\.example\n[\s\S]*- p11@m\.example$/);
  });

  it('lists the result where the group has no members', async () => {
    const listed = await afterRound(
      [briefing, user('who is in break-glass of meridian?')],
      () => 'break-glass (id g): 0 members; grants no role',
    );
    const answer = contentOf(await service.complete({ model: 'sandbox/guide', messages: listed, tools }));
    assert.match(answer, /^Result of `list_groups`: break-glass: 0 members; grants no role$/);
  });

  it('keeps what is true of all items out of the list', async () => {
    const told = await afterRound(
      [briefing, user('who can administer meridian?')],
      () => 'admin in meridian: 1 subject, 1 user ID.\nThey may be the same.\n\nada\n7e1c',
    );
    const answer = contentOf(await service.complete({ model: 'sandbox/guide', messages: told, tools }));
    assert.equal(
      answer,
      'Result of `who_has_role`: admin in meridian: 1 subject, 1 user ID. They may be the same.\n\n- ada\n- 7e1c',
    );
  });

  it('lists results by name, and nothing in them is markup', async () => {
    const told = await afterRound(
      [briefing, user('who can administer meridian?')],
      () =>
        'admin (id r-1) in meridian: 9 holders.\n\n*ada* (user, id 7) through [x](y) (id g-1)\n<b>\n3\n4\n5\n6\n7\n8\n9\n',
    );
    const answer = contentOf(await service.complete({ model: 'sandbox/guide', messages: told, tools }));
    assert.ok(
      answer.startsWith(
        'Result of `who_has_role`: admin in meridian: 9 holders.\n\n- \\*ada\\* through \\[x\\](y)\n- \\<b\\>\n- 3\n',
      ),
      answer,
    );
    assert.ok(answer.endsWith('\n- 8\n\n1 more line not shown.'), answer);
  });

  it('without the access tools says where they are', async () => {
    const question = 'who can administer meridian?';
    for (const [asked, more] of [
      [question, {}],
      [`/acess ${question}`, {}],
      [`/access ${question}`, {}],
      [question, { tools: [tool('word_count', 'Counts words.')] }],
      [question, { tools, tool_choice: 'none' }],
    ] as const) {
      const body = { model: 'sandbox/guide', messages: [user(asked)], ...more };
      assert.match(
        contentOf(await service.complete(body)),
        /^Questions about access need the access tools, which are not offered here\. In VS Code’s chat, ask:\n\n- `@rolecall \/access who can administer meridian\?`\n\nOn the command line, `rolecall who-has` and `rolecall access` answer them\.$/,
      );
    }
  });

  it('of a model without tools are answered from the lists it was given', async () => {
    const lists = `${briefing.content}\n\nGroups of meridian: 2.\n\nadmins (id g-1): 2 members; grants administrator\nothers (id g-2): 1 member; grants reader`;
    const say = async (question: string, content: string): Promise<string> =>
      contentOf(
        await service.complete({ model: 'sandbox/no-tools', messages: [{ role: 'system', content }, user(question)] }),
      );
    assert.equal(
      await say('who can administer meridian?', lists),
      'From the lists I was given:\n\n- admins: 2 members; grants administrator',
    );
    assert.match(await say('what can dora reach?', lists), /don’t say that/);
    assert.match(await say('what can dora reach?', 'The identity service could not be asked.'), /can’t read groups/);
  });
});
