// Lists: links and forms of a list replace its part of the page; rows are selected, and visited by keys.
import { enhance } from "./enhance.js";
import { addCells } from "./inline.js";
import { MOUNT } from "./mount.js";

const list = () => document.getElementById("list");
const rows = () => [...document.querySelectorAll("#list tr[data-key]")];
const search = document.querySelector("[data-list-search]");
let running;

// Shows the list at a URL; "push" adds it to the history, "replace" puts it in the place of the current entry.
async function show(url, entry, state = null) {
  running?.abort();
  running = new AbortController();
  const part = new URL(url, location.href);
  part.searchParams.append("_part", "list");
  list().setAttribute("aria-busy", "true");
  try {
    const response = await fetch(part, { signal: running.signal, headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("list");
    if (!response.ok || !fresh) return location.assign(url);
    const final = new URL(response.url);
    final.searchParams.delete("_part");
    replace(document.adoptNode(fresh), new URL(url, location.href).hash);
    if (entry && !final.searchParams.has("_filter")) history[`${entry}State`](state, "", final);
  } catch (error) {
    if (error.name !== "AbortError") location.assign(url);
  }
}

function replace(fresh, hash) {
  const old = list(), active = old.contains(document.activeElement) ? document.activeElement : null;
  const counts = old.querySelector("#facets"), facets = fresh.querySelector("#facets[data-source]");
  fresh.querySelector(".as-code")?.toggleAttribute("open", Boolean(old.querySelector(".as-code[open]")));
  if (counts && facets) facets.replaceChildren(...counts.childNodes);
  old.replaceWith(fresh);
  enhance(fresh);
  const count = document.querySelector("[data-list-count]");
  if (count) count.textContent = fresh.dataset.count;
  if (hash) fresh.querySelector(hash)?.closest("details")?.setAttribute("open", "");
  const form = fresh.querySelector(".dropdown[open] .filter-form select");
  const summary = fresh.querySelector("[data-focus]"), told = old.querySelector("[data-focus]")?.textContent;
  const name = (item) => item.getAttribute("aria-label") ?? item.textContent;
  const same = active && [...fresh.querySelectorAll(active.tagName)].find((item) => name(item) === name(active));
  (form ?? (summary?.textContent === told ? null : summary) ?? same ?? (active && fresh.querySelector(".table-scroll")))?.focus();
  loadFacets();
  whenIdle(showLaterRows);
}

document.addEventListener("toggle", ({ target }) => { if (target.matches(".facets[open]")) loadFacets(); }, true);

async function loadFacets() {
  const facets = document.querySelector(".facets[open] > #facets[data-source]");
  if (!facets) return;
  const response = await fetch(MOUNT + facets.dataset.source, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response?.ok || response.redirected) return;
  facets.innerHTML = await response.text();
  facets.removeAttribute("data-source");
}

// Long tables have several bodies. Those after the first are laid out when the browser is idle, one at a time.
const whenIdle = window.requestIdleCallback ?? ((next) => setTimeout(next, 50));
function showLaterRows() {
  const body = document.querySelector("tbody[data-later]");
  if (!body) return;
  body.removeAttribute("data-later");
  addCells(body);
  whenIdle(showLaterRows);
}

function searched() {
  const url = new URL(location.href), text = new FormData(search).get("q").trim();
  url.searchParams.delete("page");
  url.searchParams.delete("q");
  if (text) url.searchParams.set("q", text);
  return url;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("#list a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.pathname !== location.pathname) return;
  event.preventDefault();
  show(link.href, "push");
});

document.addEventListener("submit", (event) => {
  const form = event.target, submitter = event.submitter;
  if (!list() || !form.matches("#list form, [data-list-search]")) return;
  if ((submitter?.getAttribute("formmethod") || form.method).toLowerCase() !== "get") return;
  event.preventDefault();
  if (form === search) return show(searched(), "push");
  const url = new URL(form.getAttribute("action"), location.href);
  url.search = new URLSearchParams(new FormData(form, submitter));
  show(url, "push");
});

// Scripts of packages show the list at another URL by this event, whose detail is the URL.
document.addEventListener("list:show", ({ detail }) => list() && show(detail, "push"));

let typing;
search?.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => show(searched(), history.state === "typed" ? "replace" : "push", "typed"), 250);
});

window.addEventListener("popstate", () => {
  if (!list()) return;
  if (search) search.elements.q.value = new URL(location.href).searchParams.get("q") ?? "";
  show(location.href);
});

// -- selection

function count() {
  const boxes = [...document.querySelectorAll('input[name="pk"]')], chosen = boxes.filter((box) => box.checked).length;
  for (const place of document.querySelectorAll("[data-selected-count]")) place.textContent = chosen;
  const all = document.querySelector("[data-select-all]");
  if (all) [all.checked, all.indeterminate] = [chosen > 0 && chosen === boxes.length, chosen > 0 && chosen < boxes.length];
}

// Shift and a click choose all rows from that of the last click.
let last;
document.addEventListener("click", ({ target, shiftKey }) => {
  if (!target.matches('#list input[name="pk"]')) return;
  const boxes = [...document.querySelectorAll('#list input[name="pk"]')], [from, to] = [boxes.indexOf(last), boxes.indexOf(target)].sort((a, b) => a - b);
  if (shiftKey && from >= 0) for (const box of boxes.slice(from, to + 1)) box.checked = target.checked;
  last = target;
  count();
});

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-select-all]")) {
    for (const box of document.querySelectorAll('input[name="pk"]')) box.checked = target.checked;
  }
  if (target.matches('[data-select-all], input[name="pk"]')) count();
});

// -- keys: j and k move through the rows, x selects, Enter opens

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.body.hasAttribute("data-no-shortcuts")) return;
  if (!list() || event.target.closest("input:not([type=checkbox]), select, textarea, [contenteditable], dialog")) return;
  const all = rows(), marked = all.findIndex((row) => row.hasAttribute("data-current"));
  const focused = all.indexOf(event.target.closest("tr[data-key]")), current = focused < 0 ? marked : focused;
  if (event.key === "j" || event.key === "k") {
    const next = all[Math.min(Math.max(current + (event.key === "j" ? 1 : -1), 0), all.length - 1)];
    all[marked]?.removeAttribute("data-current");
    next?.setAttribute("data-current", "");
    next?.querySelector("th a")?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  } else if (event.key === "x") {
    all[current]?.querySelector('input[name="pk"]')?.click();
  } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
    event.preventDefault(); // Enter in a checkbox would submit the selection
    (event.target.closest("tr") ?? all[current])?.querySelector("th a")?.click();
  }
});

// A text that a cell cuts is its tooltip.
document.addEventListener("mouseover", ({ target }) => {
  const cell = target.closest?.("table.list :is(th, td):not(.select, .row-links)");
  if (cell && !cell.title && cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent.trim();
});

count();
loadFacets();
whenIdle(showLaterRows);
