// The command palette: pages, commands, objects opened lately and results of the search, by keyboard alone.
import { MOUNT } from "./mount.js";

const DELAY = 120; // milliseconds without typing before a search
const RECENT = "netinv recent";
const MAX_RECENT = 8;
const MAX_PAGES = 8;
let dialog, input, list, status, timer, abort, active;

const make = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const recent = () => JSON.parse(localStorage.getItem(RECENT) ?? "[]");
const option = ([title, target]) => {
  if (typeof target === "string") return make("a", { role: "option", tabindex: -1, href: target }, title);
  const button = make("button", { role: "option", tabindex: -1, type: "button" }, title);
  button.onclick = target;
  return button;
};
const group = (title, items) =>
  items.length ? [make("div", { role: "group", "aria-label": title }, make("p", { class: "palette-group", role: "presentation" }, title), ...items.map(option))] : [];

function entries(text) {
  const matches = ([title]) => text.toLowerCase().split(/\s+/).every((word) => title.toLowerCase().includes(word));
  const pages = [...document.querySelectorAll("#navigation li > a:not(.add)")].map((link) => [link.textContent.trim(), link.pathname]);
  const commands = [...document.querySelectorAll("#navigation a.add")].map((link) => [link.title, link.pathname]);
  const signOut = document.querySelector("form[action$='/logout/']");
  for (const theme of ["light", "dark", "system"]) {
    commands.push([`Theme: ${theme}, for this page`, () => { document.documentElement.dataset.theme = theme; dialog.close(); }]);
  }
  commands.push(["All keys", () => { dialog.close(); dispatchEvent(new Event("netinv:keys")); }]);
  if (signOut) commands.push(["Sign out", () => signOut.requestSubmit()]);
  if (!text) return [...group("Recent", recent()), ...group("Pages", pages.slice(0, MAX_PAGES))];
  return [
    ...group("Pages", pages.filter(matches).slice(0, MAX_PAGES)),
    ...group("Commands", commands.filter(matches).slice(0, MAX_PAGES)),
  ];
}

function select(next) {
  active?.setAttribute("aria-selected", "false");
  active = next;
  if (!next) return input.removeAttribute("aria-activedescendant");
  next.setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
}

function show(...parts) {
  list.replaceChildren(...parts);
  list.querySelectorAll("[role=option]").forEach((item, number) => (item.id = `palette-${number}`));
  select(null);
}

async function search(text) {
  abort?.abort();
  abort = new AbortController();
  try {
    const answer = await fetch(`${MOUNT}/search/?_part=palette&q=${encodeURIComponent(text)}`, { signal: abort.signal });
    if (!answer.ok || answer.redirected || input.value.trim() !== text) return;
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    const former = active?.textContent, note = template.content.querySelector("[role=status]");
    status.textContent = note?.textContent ?? "";
    note?.remove();
    show(template.content, ...entries(text));
    if (former) select([...list.querySelectorAll("[role=option]")].find((item) => item.textContent === former));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

function typed() {
  const text = input.value.trim();
  clearTimeout(timer);
  abort?.abort();
  status.textContent = "";
  show(...entries(text));
  if (text) timer = setTimeout(search, DELAY, text);
}

function pressed(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const items = [...list.querySelectorAll("[role=option]")];
  if (step && items.length) {
    const place = items.indexOf(active) + (active || step > 0 ? step : 0);
    select(items.at(place % items.length));
  } else if (event.key === "Enter" && active) active.click();
  else return;
  event.preventDefault();
}

function build() {
  input = make("input", {
    name: "q", type: "search", role: "combobox", "aria-label": "Search or jump to", "aria-expanded": "true", "aria-autocomplete": "list",
    "aria-controls": "palette-list", autocomplete: "off", maxlength: 200, placeholder: "Search or jump to …",
  });
  list = make("div", { id: "palette-list", role: "listbox", "aria-label": "Results" });
  status = make("p", { class: "help", role: "status" });
  const jump = make("input", { type: "hidden", name: "_jump", value: "1" });
  dialog = make("dialog", { class: "palette", "aria-label": "Search and commands" }, make("form", { action: `${MOUNT}/search/` }, input, jump), list, status);
  input.addEventListener("input", typed);
  input.addEventListener("keydown", pressed);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
}

// Without a text it shows what was typed last, to be typed over.
export function openPalette(text = "") {
  if (!dialog) build();
  if (!dialog.open) dialog.showModal();
  if (text) input.value = text;
  else input.select();
  typed();
}

// The search of the header: what is typed there goes on in the palette.
const box = document.getElementById("search-box");
function openTyped(event) {
  if (event.isComposing || !box.value) return;
  openPalette(box.value);
  box.value = "";
}
box?.addEventListener("click", () => openPalette(box.value));
box?.addEventListener("input", openTyped);
box?.addEventListener("compositionend", openTyped);

const heading = document.querySelector("header.title[data-object] h1");
if (heading) {
  const path = location.pathname.replace(/^((?:\/[^/]+)*\/[0-9a-f-]{36}\/).*/, "$1");
  const others = recent().filter((item) => item[1] !== path);
  localStorage.setItem(RECENT, JSON.stringify([[heading.textContent.trim(), path], ...others].slice(0, MAX_RECENT)));
}
document.querySelector("form[action$='/logout/']")?.addEventListener("submit", () => localStorage.removeItem(RECENT));
