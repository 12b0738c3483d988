/** The parts of the page, empty: the same for everybody. The page's script fills them with text. */
export const PAGE_BODY = `<h1 id="title" class="unseen"></h1>
<header id="toolbar" hidden>
<fieldset id="modes"><legend id="modes-name" class="unseen"></legend></fieldset>
<input id="filter" type="search" spellcheck="false" autocomplete="off">
<p id="counts" role="status"></p>
<p id="read"></p>
<button id="refresh" type="button"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13 8a5 5 0 1 1-1.7-3.75M13 2v3.2H9.8"/></svg></button>
</header>
<div id="notices" role="status"></div>
<p id="explanation" hidden></p>
<main>
<div id="grid" role="grid" aria-readonly="true" hidden></div>
<p id="empty" hidden></p>
</main>
<footer id="footer" hidden>
<p id="detail"></p>
<ul id="legend"></ul>
</footer>`;
