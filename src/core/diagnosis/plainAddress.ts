/** An address as it was typed, without user name, password, query and fragment, in which secrets travel. */
export function plainAddress(address: string): string {
  return address.replace(/[?#].*$/s, '').replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)?[^/]*@/i, '$1');
}
