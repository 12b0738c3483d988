// Another chat agent than @rolecall: it calls a tool of Rolecall's and says what it was given.
const vscode = require('vscode');

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.chat.createChatParticipant('rolecall-tests.outsider', async (request, _context, stream, token) => {
      const { toolInvocationToken } = request;
      const options = { input: { organization: request.prompt.trim() }, toolInvocationToken };
      const result = await vscode.lm.invokeTool('rolecall_list_groups', options, token);
      for (const part of result.content) stream.markdown(`It was given: ${part.value ?? ''}`);
    }),
  );
};
