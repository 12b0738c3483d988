import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sendBody } from '../http.ts';
import { PEOPLE, type Person } from './people.ts';

const STYLE = `
:root { color-scheme: light dark; --ground: #f5f6f8; --card: #fff; --ink: #1c2128; --soft: #57606a; --line: #d0d7de; --accent: #0b5fb0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181d; --card: #1e2329; --ink: #e6e9ed; --soft: #a3acb7; --line: #3a424c; --accent: #6cb4f5; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground);
  color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", sans-serif; }
main { width: 100%; max-width: 27rem; }
.badge { margin: 0; color: var(--soft); font-size: .875rem; font-weight: 600; }
h1 { margin: .25rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); font-size: .875rem; }
ul { list-style: none; margin: 0 0 1rem; padding: 0; display: grid; gap: .625rem; }
button { font: inherit; color: inherit; cursor: pointer; }
.person { display: block; width: 100%; padding: .75rem 1rem; text-align: start; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.person:hover { border-color: var(--accent); }
.person strong, .person span { display: block; }
.cancel { padding: 0; background: none; border: 0; color: var(--accent); text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code { overflow-wrap: anywhere; }
`;

/**
 * Sends the answer to the editor from this page and closes the tab, so that the editor is in front again. Browsers
 * allow a page to close its tab if the tab has shown no other page. If the address belongs to another program, the page
 * cannot read a `Server` header that says Rolecall. The browser then navigates to the address, as it does without
 * scripts.
 */
const SCRIPT = `
const form = document.forms[0];
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const { location } = await (await fetch(form.action, { method: 'POST', body, headers: { accept: 'application/json' } })).json();
  const answer = await fetch(location).catch(() => undefined);
  if (answer?.headers.get('server') !== 'Rolecall') {
    window.location = location;
    return;
  }
  document.querySelector('h1').textContent = answer.ok ? 'Signed in' : 'Not signed in';
  document.querySelector('section').textContent = 'You can close this tab and return to the editor.';
  window.close();
});
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Allows only the style and the script of the page itself, and connections to this machine. */
const POLICY = `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SCRIPT)}; connect-src 'self' http://127.0.0.1:*; base-uri 'none'; frame-ancestors 'none'`;

function page(title: string, content: string, script?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Rolecall sandbox</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="badge">Rolecall sandbox</p>
<h1>${escapeHtml(title)}</h1>
<section>
${content}
</section>
</main>${script === undefined ? '' : `\n<script>${script}</script>`}
</body>
</html>
`;
}

/** Sends a page with one button for each person, which signs in as that person. */
export function sendSignInPage(res: ServerResponse, path: string): void {
  const content = `<p>This demo cloud runs on this machine only. There are no passwords: choose who to sign in as.</p>
<form method="post" action="${escapeHtml(path)}">
<ul>
${PEOPLE.map(choice).join('\n')}
</ul>
<button class="cancel" name="cancel" value="yes">Cancel and return to the editor</button>
</form>`;
  sendPage(res, 200, page('Sign in', content, SCRIPT));
}

function choice({ id, name, email, about }: Person): string {
  return `<li><button class="person" name="person" value="${escapeHtml(id)}"><strong>${escapeHtml(name)}</strong><span class="soft">${escapeHtml(email)}</span><span>${escapeHtml(about)}</span></button></li>`;
}

export function sendProblemPage(res: ServerResponse, status: number, title: string, text: string): void {
  sendPage(res, status, page(title, `<p>${escapeHtml(text)}</p>`));
}

function sendPage(res: ServerResponse, status: number, html: string): void {
  sendBody(res, status, Buffer.from(html), 'text/html; charset=utf-8', {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
