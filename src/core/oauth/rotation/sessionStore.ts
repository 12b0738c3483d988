/** Where one connection's secrets are kept at rest: in the editor, its SecretStorage. */
export interface SessionStore {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}
