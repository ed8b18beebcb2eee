// Pickers: a combobox over the choices of a list in place of a select or of an input with an id.
import { enhance } from "./enhance.js";
import { MOUNT } from "./mount.js";

const RECENT = 5; // objects used last that come first
const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
const MARGIN = 8; // pixels between the choices and the edge of the window
const user = document.querySelector(".account summary span")?.textContent ?? "";
const OVER = "over";
let count = 0;

const labelOf = (field) => (document.querySelector(`label[for="${CSS.escape(field.closest("[data-picker]")?.querySelector("[role=combobox]")?.id ?? field.id)}"]`)?.textContent ?? field.name).replace("*", "").trim();

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function dot(color) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const circle = document.createElementNS(svg.namespaceURI, "circle");
  for (const [name, value] of [["class", "dot"], ["viewBox", "0 0 8 8"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
  for (const [name, value] of [["cx", 4], ["cy", 4], ["r", 4], ["fill", `#${color}`]]) circle.setAttribute(name, value);
  svg.append(circle);
  return svg;
}

class Picker {
  constructor(box) {
    this.box = box;
    this.field = box.querySelector("select, input[name]");
    this.select = this.field.tagName === "SELECT" ? this.field : null;
    this.multiple = this.select?.multiple ?? false;
    this.form = this.field.form;
    this.id = `picker-${count++}`;
    this.initial = this.chosen;
    box.picker = this;
    this.build();
    this.show();
  }

  build() {
    const { field, id } = this;
    this.input = make("input", { id, role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list" });
    for (const name of ["aria-describedby", "aria-invalid"]) if (field.hasAttribute(name)) this.input.setAttribute(name, field.getAttribute(name));
    this.input.required = field.required && !this.multiple;
    const label = document.querySelector(`label[for="${CSS.escape(field.id)}"]`);
    const name = label?.textContent.replace("*", "").trim() || field.getAttribute("aria-label") || field.name;
    this.list = make("ul", { id: `${id}-list`, role: "listbox", "aria-label": name });
    if (this.multiple) this.list.setAttribute("aria-multiselectable", "true");
    this.status = make("p", { role: "status", class: "help" });
    this.popup = make("div", { class: "picker-popup" }, this.list, this.status);
    this.popup.hidden = true;
    if ("popover" in this.popup) this.popup.popover = "manual"; // nothing around it cuts it off
    this.chips = make("span", { class: "chips" });
    if (label) label.htmlFor = id;
    else this.input.setAttribute("aria-label", name);
    field.required = false;
    field.hidden = true;
    const text = this.box.querySelector(".picker-text input"); // what was written for the service to look up
    this.typed = make("input", { type: "hidden", name: text?.name ?? `_text_${field.name}` });
    this.typed.value = this.multiple ? "" : text?.value ?? "";
    this.box.querySelector(".picker-text")?.remove();
    field.before(this.chips, this.input);
    this.box.append(this.popup, ...(text ? [this.typed] : []));
    this.input.addEventListener("input", () => { this.clear(); this.search(200); });
    this.input.addEventListener("focus", () => { if (!this.multiple) this.input.select(); });
    this.input.addEventListener("click", () => this.search(0, ""));
    this.input.addEventListener("blur", () => setTimeout(() => this.leave(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => this.choose(event.target.closest("li")?.item));
    this.box.querySelector(".picker-new")?.addEventListener("click", (event) => this.create(event));
    for (const name of this.dependencies().map(([name]) => name)) this.other(name)?.addEventListener("change", () => this.narrow());
    this.typeControl()?.addEventListener("change", () => this.set([]));
  }

  typeControl() { return this.box.dataset.typeControl ? this.other(this.box.dataset.typeControl) : null; }
  other(name) { const found = this.form?.elements[name]; return found instanceof RadioNodeList ? found[0] : found; }
  dependencies() { return (this.box.dataset.dependsOn ?? "").split(" ").filter(Boolean).map((pair) => pair.split(":")); }
  get source() { return this.box.dataset.source || this.typeControl()?.selectedOptions[0]?.dataset.source; }
  get recentKey() { return `netinv recent ${user} ${this.source}`; }

  get chosen() {
    if (!this.select) return this.field.value ? [{ key: this.field.value, label: this.box.dataset.label || this.field.value }] : [];
    const options = [...this.select.selectedOptions].filter((option) => option.value);
    return options.map((option) => ({ key: option.value, label: option.text, color: option.dataset.color }));
  }

  setText(text) { // a name, slug or id, unless it is what is chosen
    if (text && text === this.chosen[0]?.label) return;
    this.set([], this.select ? text : "");
  }

  reset() { this.set(this.initial); }

  set(items, text = "") {
    this.typed.value = text;
    if (this.select) {
      for (const option of this.select.options) option.selected = !this.multiple && option.value === "" && !items.length;
      for (const { key, label, color } of items) {
        let option = [...this.select.options].find((option) => option.value === key);
        if (!option) {
          option = new Option(label, key);
          if (color) option.dataset.color = color;
          this.select.add(option);
        }
        option.selected = true;
      }
    } else {
      this.field.value = items[0]?.key ?? "";
      this.box.dataset.label = items[0]?.label ?? "";
    }
    this.show();
    this.field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  show() {
    const { chosen } = this;
    if (!this.multiple) {
      this.input.value = this.typed.value || (chosen[0]?.label ?? "");
      return;
    }
    this.chips.replaceChildren(...chosen.map((item) => {
      const remove = make("button", { type: "button", class: "link", "aria-label": `Remove ${item.label}` }, "×");
      remove.addEventListener("click", () => { this.set(this.chosen.filter(({ key }) => key !== item.key)); this.input.focus(); });
      return make("span", { class: "chip" }, ...(item.color ? [dot(item.color)] : []), item.label, remove);
    }));
    this.input.value = "";
  }

  parameters() {
    const query = new URLSearchParams(this.box.dataset.parameters ?? "");
    for (const [name, parameter] of this.dependencies()) {
      const value = this.other(name)?.value;
      if (value) query.append(parameter, value);
    }
    return query;
  }

  async fetch(query) {
    if (this.select && this.box.dataset.key) query.set("_key", this.box.dataset.key);
    const response = await fetch(`${MOUNT}${this.source}_choices/?${query}`, { headers: { Accept: "application/json" }, signal: this.abort.signal });
    if (response.status === 401 || response.redirected) throw new Error(OVER);
    if (!response.ok) throw new Error(response.status === 403 ? "You may not view these objects." : "The choices cannot be read.");
    return response.json();
  }

  fail(error) {
    if (error.name === "AbortError") return;
    this.fill([]);
    this.status.textContent = error.message === OVER ? "Nothing was searched: your session is over. " : error.message;
    if (error.message === OVER) this.status.append(make("a", { href: `${MOUNT}/login/`, target: "_blank" }, "Sign in"), " in another tab, then search again.");
    this.position();
  }

  nothing(text) { // what was searched for, and among what
    const labels = this.dependencies().map(([name]) => this.other(name)).filter((other) => other?.value).map((other) => `${labelOf(other)} ${other.selectedOptions?.[0]?.text ?? ""}`.trim());
    const narrowed = labels.length ? ` that belongs to ${labels.join(" and ")}` : "";
    return text ? `Nothing found for “${text}”${narrowed}.` : `There is nothing to choose${narrowed}.`;
  }

  search(delay, text = this.input.value.trim()) {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = new AbortController();
    this.isSearching = true;
    this.timer = setTimeout(() => this.load(text).catch((error) => this.fail(error)), delay);
  }

  async load(text) {
    this.open();
    if (!this.source) { this.status.textContent = "Choose the type first."; return; }
    const query = this.parameters(), recent = text ? [] : JSON.parse(localStorage.getItem(this.recentKey) ?? "[]");
    if (text) query.set("_q", text);
    for (const key of recent) query.append("_recent", key);
    const { items, more } = await this.fetch(query);
    this.fill(items);
    this.status.textContent = !items.length ? this.nothing(text) : more ? `The first ${items.length}, type to narrow` : `${items.length} in all`;
    this.position();
    this.isSearching = false;
    if ((this.isAwaited || ID.test(text)) && items.length === 1) this.choose(this.list.firstElementChild.item);
    this.isAwaited = false;
  }

  fill(items) {
    const held = new Set(this.chosen.map(({ key }) => key));
    this.list.replaceChildren(...items.map((item, place) => {
      const key = item.value, label = item.name;
      const option = make("li", { role: "option", id: `${this.id}-${place}`, "aria-selected": String(held.has(key)) }, ...(item.color ? [dot(item.color)] : []), label);
      option.item = { key, label, color: item.color, id: item.id };
      return option;
    }));
    this.move(0);
  }

  open() {
    this.popup.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (!this.popup.popover) return;
    if (!this.popup.matches(":popover-open")) this.popup.showPopover();
    this.position();
    for (const type of ["scroll", "resize"]) addEventListener(type, this.follow, true);
  }

  follow = ({ target }) => { if (!this.popup.contains(target)) this.position(); };

  position() { // below the input, or above it where there is more room
    if (!this.popup.popover || this.popup.hidden) return;
    const { left, top, bottom, width } = this.input.getBoundingClientRect();
    const below = innerHeight - bottom - MARGIN, above = top - MARGIN;
    const style = this.popup.style, root = document.documentElement;
    Object.assign(style, { minWidth: `${width}px`, maxWidth: `${root.clientWidth - 2 * MARGIN}px`, maxHeight: "none" });
    const isBelow = this.popup.offsetHeight <= below || below >= above;
    style.maxHeight = `${isBelow ? below : above}px`;
    style.top = isBelow ? `${bottom}px` : `${Math.max(MARGIN, top - this.popup.offsetHeight)}px`;
    style.left = `${Math.max(MARGIN, Math.min(left, root.clientWidth - this.popup.offsetWidth - MARGIN))}px`;
  }

  close() {
    clearTimeout(this.timer);
    this.abort?.abort();
    if (this.popup.popover && this.popup.matches(":popover-open")) this.popup.hidePopover();
    for (const type of ["scroll", "resize"]) removeEventListener(type, this.follow, true);
    this.isSearching = this.isAwaited = false;
    this.popup.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  clear() { // an emptied box holds nothing
    const isEmptied = !this.multiple && !this.input.value.trim() && (this.chosen.length > 0 || this.typed.value !== "");
    if (isEmptied) this.set([]);
    return isEmptied;
  }

  leave() {
    if (this.box.contains(document.activeElement)) return;
    this.close();
    if (!this.clear()) this.show();
  }

  move(place) {
    const options = [...this.list.children];
    this.place = options.length ? (place + options.length) % options.length : -1;
    options.forEach((option, index) => option.toggleAttribute("data-active", index === this.place));
    const active = options[this.place];
    if (!active) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", active.id);
    active.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const closed = this.popup.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (event.altKey && event.key === "ArrowUp") this.close();
      else if (closed) this.search(0, "");
      else this.move(this.place + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && !closed) {
      event.preventDefault();
      if (this.isSearching) this.isAwaited = true;
      else this.choose(this.list.children[this.place]?.item);
    } else if (event.key === "Escape" && !closed) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
      this.show();
    } else if (event.key === "Backspace" && this.multiple && !this.input.value) this.set(this.chosen.slice(0, -1));
  }

  choose(item) {
    if (!item) return;
    const used = JSON.parse(localStorage.getItem(this.recentKey) ?? "[]");
    if (item.id) localStorage.setItem(this.recentKey, JSON.stringify([item.id, ...used.filter((id) => id !== item.id)].slice(0, RECENT)));
    const held = this.chosen.some(({ key }) => key === item.key);
    if (this.multiple) this.set(held ? this.chosen.filter(({ key }) => key !== item.key) : [...this.chosen, item]);
    else this.set([item]);
    this.close();
  }

  async narrow() { // what is chosen stays only if it still fits
    if (!this.chosen.length || this.multiple || !this.source) return;
    this.abort = new AbortController();
    const query = this.parameters();
    query.set("id", this.chosen[0].key);
    query.delete("_key");
    const { items } = await this.fetch(query).catch(() => ({ items: [null] }));
    if (!items.length) this.set([]);
  }

  async create(event) {
    const link = event.currentTarget;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const query = new URLSearchParams({ _quick: "1" });
    for (const [name] of this.dependencies()) if (this.other(name)?.value) query.append(name, this.other(name).value);
    const dialog = make("dialog", { class: "quick", "aria-label": link.getAttribute("aria-label") });
    document.body.append(dialog);
    dialog.addEventListener("close", () => { dialog.remove(); this.input.focus(); });
    dialog.addEventListener("click", ({ target }) => { if (target.closest("[data-close]")) dialog.close(); });
    dialog.addEventListener("submit", (submit) => { submit.preventDefault(); this.send(dialog, submit.target); });
    const response = await fetch(`${link.pathname}?${query}`);
    if (!response.ok || response.redirected) { dialog.remove(); window.open(link.href); return; }
    fillDialog(dialog, await response.text());
    dialog.showModal();
  }

  async send(dialog, form) {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
    const text = await response.text();
    if (!fillDialog(dialog, text)) {
      const again = make("a", { href: `${MOUNT}/login/`, target: "_blank" }, "Sign in");
      form.prepend(make("p", { class: "notice warning", role: "alert" }, "It was not sent: your session is over. ", again, " in another tab, then send it again."));
      return;
    }
    const created = dialog.querySelector("[data-created]");
    if (!created) return;
    const item = { key: created.dataset[this.box.dataset.key] ?? created.dataset.created, label: created.textContent };
    this.set(this.multiple ? [...this.chosen, item] : [item]);
    dialog.close();
  }
}

function fillDialog(dialog, text) { // ids of the page and of the dialog must differ
  const parsed = new DOMParser().parseFromString(text, "text/html");
  if (parsed.querySelector("main")) return false;
  for (const element of parsed.querySelectorAll("[id], [for], [aria-describedby], [list], [href^='#']")) {
    for (const name of ["id", "for", "aria-describedby", "list"]) {
      if (element.hasAttribute(name)) element.setAttribute(name, element.getAttribute(name).replace(/\S+/g, "quick-$&"));
    }
    if (element.getAttribute("href")?.startsWith("#")) element.setAttribute("href", `#quick-${element.getAttribute("href").slice(1)}`);
  }
  dialog.replaceChildren(...parsed.body.childNodes);
  enhance(dialog);
  dialog.querySelector("[data-focus]")?.focus();
  return true;
}

export function addPickers(root) {
  for (const box of root.querySelectorAll("[data-picker]")) new Picker(box);
}
