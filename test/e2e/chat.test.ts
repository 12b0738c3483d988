// One window goes through all of it, in this order.
import './chat/first.ts';
import './chat/tools.ts';
import './chat/answers.ts';
