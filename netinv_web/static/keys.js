// Keys. Elements say which key follows or focuses them: aria-keyshortcuts="e", or data-keys="g d" for one key after another.
import { openPalette } from "./palette.js";

const PAUSE = 1200; // milliseconds between the keys of a sequence
const MARKED = "[aria-keyshortcuts], [data-keys]";
const keysOf = (element) => element.dataset.keys ?? element.getAttribute("aria-keyshortcuts");
let before = "";
let timer, dialog;

function showKeys() {
  dialog?.remove();
  dialog = document.createElement("dialog");
  dialog.className = "keys";
  dialog.setAttribute("aria-label", "Keys");
  const rows = new Map([["/ or Ctrl-K", "Search and commands"], ["?", "All keys"], ["Esc", "Close"]]);
  for (const element of document.querySelectorAll(MARKED)) {
    const title = element.dataset.title || element.getAttribute("aria-label") || element.textContent.trim();
    if (keysOf(element) !== "/") rows.set(keysOf(element), title);
  }
  const title = document.createElement("h2");
  title.textContent = "Keys";
  const list = document.createElement("dl");
  for (const [keys, meaning] of rows) {
    const term = document.createElement("dt");
    const description = document.createElement("dd");
    const key = document.createElement("kbd");
    key.textContent = keys;
    term.append(key);
    description.textContent = meaning;
    const row = document.createElement("div");
    row.append(term, description);
    list.append(row);
  }
  const form = document.createElement("form");
  form.method = "dialog";
  const close = document.createElement("button");
  close.textContent = "Close";
  form.append(close);
  dialog.append(title, list, form);
  document.body.append(dialog);
  dialog.showModal();
}

function follow(keys) {
  const element = [...document.querySelectorAll(MARKED)].find((item) => keysOf(item) === keys);
  if (!element) return false;
  if (element.matches("form")) element.querySelector("button")?.focus();
  else if (element.matches("input, select, textarea")) element.focus();
  else element.click();
  if (element.matches("summary")) element.parentElement.querySelector("input:not([type=hidden]), select, a, button")?.focus();
  return true;
}

addEventListener("netinv:keys", showKeys);
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const palette = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (palette) {
    event.preventDefault();
    return openPalette();
  }
  const typing = event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], dialog");
  if (typing || event.ctrlKey || event.metaKey || event.key.length > 1 || document.body.hasAttribute("data-no-shortcuts")) return;
  clearTimeout(timer);
  const keys = before ? `${before} ${event.key}` : event.key;
  before = "";
  if (keys === "/") openPalette();
  else if (keys === "?") showKeys();
  else if (keys === "g") {
    before = "g";
    timer = setTimeout(() => (before = ""), PAUSE);
  } else if (!follow(keys)) return;
  event.preventDefault();
});
