import type { Log } from '../../src/core/base/log.ts';

/** Swallows everything. */
export const silentLog: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
