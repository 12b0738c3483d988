import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { SupersededError, type TokenStore } from './tokenStore.ts';

/** The library's storage extension point over the sandbox's own store; what it adds is the single-session rule. */
export function adapterFor(store: TokenStore): (model: string) => Adapter {
  return (model) => new StoreAdapter(model, store);
}

class StoreAdapter implements Adapter {
  readonly #model: string;
  readonly #store: TokenStore;

  constructor(model: string, store: TokenStore) {
    this.#model = model;
    this.#store = store;
  }

  async upsert(id: string, payload: AdapterPayload, seconds?: number): Promise<void> {
    refuseSuperseded(() => {
      if (this.#model === 'AccessToken') this.#store.putAccessToken(id, payload, seconds);
      else if (this.#model === 'RefreshToken') this.#store.putRefreshToken(id, payload, seconds);
      else this.#store.put(this.#model, id, payload, seconds);
    });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#store.get(this.#model, id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#store.find(this.#model, (payload) => payload.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#store.find(this.#model, (payload) => payload.userCode === userCode);
  }

  async consume(id: string): Promise<void> {
    refuseSuperseded(() => {
      if (this.#model === 'RefreshToken') this.#store.spendRefreshToken(id);
      else this.#store.spendCode(id);
    });
  }

  async destroy(id: string): Promise<void> {
    this.#store.delete(this.#model, id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    this.#store.deleteGrant(this.#model, grantId);
  }
}

/** The library answers `invalid_grant` to its own error class only. */
function refuseSuperseded(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (error instanceof SupersededError) throw new errors.InvalidGrant(error.message);
    throw error;
  }
}
