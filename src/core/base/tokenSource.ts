/** How the rooms of core get a token without knowing where it comes from. */
export interface TokenSource {
  /**
   * A token to send now.
   *
   * @throws RolecallError `signedOut`, `sessionEnded`, `offline`, `storage`.
   */
  accessToken(signal: AbortSignal): Promise<string>;
  /**
   * The service answered 401 to `token`. Resolves to another token worth one retry, or to `undefined` when there is
   * none.
   */
  rejected(token: string, signal: AbortSignal): Promise<string | undefined>;
}
