/**
 * A request as a command for a POSIX shell. Secrets are variables: the token ROLECALL_TOKEN, and each further header's value one
 * of its name.
 */
export function curlCommand(url: string, body: string, headers: readonly string[]): string {
  const variable = (header: string) => header.toUpperCase().replaceAll(/[^A-Z\d]/g, '_');
  const lines = [
    `curl ${quoted(url)}`,
    '-H "Authorization: Bearer $ROLECALL_TOKEN"',
    ...headers.map((header) => `-H ${quoted(`${header}: `)}"$${variable(header)}"`),
    `-H ${quoted('Content-Type: application/json')}`,
    `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
