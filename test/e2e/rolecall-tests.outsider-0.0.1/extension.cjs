// Another chat agent than @rolecall: it calls a tool of Rolecall's and says what it was given. A message names an
// organization, or is `{"name", "input"}`: which tool is called with what.
const vscode = require('vscode');

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.chat.createChatParticipant('rolecall-tests.outsider', async (request, _context, stream, token) => {
      const { toolInvocationToken } = request;
      const prompt = request.prompt.trim();
      const { name, input } = prompt.startsWith('{')
        ? JSON.parse(prompt)
        : { name: 'rolecall_list_groups', input: { organization: prompt } };
      const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken }, token);
      for (const part of result.content) stream.markdown(`It was given: ${part.value ?? ''}`);
    }),
  );
};
