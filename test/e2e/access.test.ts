// One window goes through all of it, in this order.
import './access/administrator.ts';
import './access/matrix.ts';
