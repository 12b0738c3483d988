// One window goes through all of it, in this order: the first suite needs it fresh, and the last one signs out. Files are begun in alphabetical
// order, and the longest has to be first.
import './chat/first.ts';
import './access/administrator.ts';
import './chat/tools.ts';
import './chat/answers.ts';
import './editor/commands.ts';
import './chat/prompts.ts';
import './access/rules.ts';
import './access/matrix.ts';
