// Grid: keys move between cells, blocks of a spreadsheet are pasted into them, and changed cells are marked.
const INPUT = "input:not([type=hidden], [hidden], [type=radio]), select:not([hidden]), textarea";
const VERTICAL = { ArrowUp: -1, ArrowDown: 1 };
const YES = /^(true|yes|1|x)$/i, NO = /^(false|no|0|)$/i;

function parsed(text) { // rows of a block; cells with tabs, line breaks or quotes are in double quotes
  const rows = [[]];
  const cells = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").matchAll(/("(?:[^"]|"")*"|[^\t\n]*)(\t|\n|$)/g);
  for (const [, cell, end] of cells) {
    rows.at(-1).push((/^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell).trim());
    if (!end) break;
    if (end === "\n") rows.push([]);
  }
  return rows;
}

function changed(input) { // pickers tell it themselves, and search for what is typed
  if (!input.closest("[data-picker]")) for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
}

function option(select, text) {
  const same = (other) => other.trim().toLowerCase() === text.toLowerCase();
  return [...select.options].find(({ value, label }) => same(value) || (value && same(label)));
}

class Grid {
  constructor(form) {
    this.form = form;
    this.rows = [...form.querySelector("table").tBodies[0].rows];
    this.status = form.querySelector("[data-grid-status]");
    this.initial = new Map();
    for (const cell of form.querySelectorAll("tbody td")) if (!cell.hasAttribute("data-changed")) this.initial.set(cell, this.state(cell));
    form.addEventListener("keydown", (event) => this.key(event), true);
    form.addEventListener("paste", (event) => this.paste(event));
    form.addEventListener("change", ({ target }) => this.mark(target.closest("td")));
    form.addEventListener("input", ({ target }) => this.mark(target.closest("td")));
    form.addEventListener("submit", () => { this.leaving = true; });
    addEventListener("pageshow", () => { this.leaving = false; });
    addEventListener("beforeunload", (event) => { if (!this.leaving && form.querySelector("td[data-changed]")) event.preventDefault(); });
    this.count();
  }

  state(cell) {
    return [...cell.querySelectorAll("[name]")].map((item) => (item.type === "checkbox" ? item.checked : item.value)).join("\n");
  }

  mark(cell) {
    if (!cell) return;
    cell.removeAttribute("data-refused");
    if (this.initial.has(cell)) cell.toggleAttribute("data-changed", this.initial.get(cell) !== this.state(cell));
    this.count();
  }

  count(text = "") {
    const count = this.form.querySelectorAll("td[data-changed]").length;
    this.status.textContent = [`${count} ${count === 1 ? "cell" : "cells"} changed.`, text].join(" ");
  }

  at(row, column) { return this.rows[row]?.cells[column]?.querySelector(INPUT); }

  move(input, down, right) {
    const cell = input.closest("td"), row = this.rows.indexOf(cell.parentElement);
    const next = this.at(row + down, cell.cellIndex + right);
    next?.focus();
    next?.select?.();
  }

  key(event) {
    const input = event.target;
    if (!input.closest("td") || !input.matches(INPUT) || event.isComposing) return;
    const isText = input.matches("textarea");
    if (isText && event.key === "Enter" && event.altKey) input.setRangeText("\n", input.selectionStart, input.selectionEnd, "end"), changed(input);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit(this.form.querySelector("button[name=_step]"));
    else if (event.altKey || event.ctrlKey || event.metaKey || input.getAttribute("aria-expanded") === "true") return;
    else if (event.key === "Enter") this.move(input, event.shiftKey ? -1 : 1, 0);
    else if (event.shiftKey) return;
    else if (event.key in VERTICAL && !(isText && !this.isEdge(input, event.key === "ArrowUp" ? 0 : input.value.length))) this.move(input, VERTICAL[event.key], 0);
    else if (event.key === "ArrowLeft" && this.isEdge(input, 0)) this.move(input, 0, -1);
    else if (event.key === "ArrowRight" && this.isEdge(input, input.value.length)) this.move(input, 0, 1);
    else if (event.key === "F2" && input.selectionEnd !== null) input.setSelectionRange?.(input.value.length, input.value.length);
    else if (event.key === "Escape") this.restore(input);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  isEdge(input, place) { // where an arrow key cannot move within the text, or all of it is selected
    if (/^date/.test(input.type)) return false;
    const { selectionStart: start, selectionEnd: end } = input;
    return start === undefined || start === null || (start === place && end === place) || (end > start && end - start === input.value.length);
  }

  restore(input) {
    const picker = input.closest("[data-picker]")?.picker;
    if (picker) picker.reset();
    else if (input.type === "checkbox") input.checked = input.defaultChecked;
    else if (input.options) input.value = ([...input.options].find(({ defaultSelected }) => defaultSelected) ?? input.options[0]).value;
    else input.value = input.defaultValue;
    changed(input);
    input.select?.();
  }

  paste(event) {
    const input = event.target.closest(INPUT), text = event.clipboardData.getData("text/plain");
    if (!input?.closest("td")) return;
    const block = parsed(text);
    const isPlain = !input.options && input.type !== "checkbox" && !input.closest("[data-picker]");
    if (block.length === 1 && block[0].length === 1 && isPlain) return;
    event.preventDefault();
    const cell = input.closest("td"), first = this.rows.indexOf(cell.parentElement);
    let filled = 0, outside = 0, refused = 0;
    block.forEach((texts, down) => texts.forEach((value, right) => {
      const target = this.at(first + down, cell.cellIndex + right);
      if (!target) outside += 1;
      else if (this.fill(target, value)) filled += 1;
      else refused += 1;
    }));
    this.count(`${filled} filled${refused ? `, ${refused} cannot take their text` : ""}${outside ? `, ${outside} beyond the grid left out` : ""}.`);
  }

  fill(input, text) {
    const picker = input.closest("[data-picker]")?.picker, former = input.value;
    let taken = true;
    if (picker) picker.setText(text);
    else if (input.type === "checkbox") [taken, input.checked] = [YES.test(text) || NO.test(text), YES.test(text)];
    else if (input.options) [taken, input.value] = [Boolean(option(input, text)), option(input, text)?.value ?? former];
    else {
      input.value = text;
      taken = !text || Boolean(input.value);
      if (!taken) input.value = former;
    }
    changed(input);
    input.closest("td").toggleAttribute("data-refused", !taken);
    return taken;
  }
}

export function addGrids(root) {
  for (const form of root.querySelectorAll("form[data-grid]")) new Grid(form);
}
