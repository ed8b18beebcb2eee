// Values that are changed in their place, on the page of an object and in the cells of a list: by a button, a double click,
// or Enter or F2 in the cell; Escape leaves. Each place knows the address of its form, and shows what was saved.
import { enhance } from "./enhance.js";
import { MOUNT } from "./mount.js";

const DOUBLE_CLICK = 250; // milliseconds within which a second click makes a double click
const DIRECTIONS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function parsed(text) { return new DOMParser().parseFromString(text, "text/html"); }
function entered(form) { return new URLSearchParams(new FormData(form)).toString(); }

class Place {
  constructor(value, field, form) {
    Object.assign(this, { value, field, form });
    value.addEventListener("submit", (event) => { event.preventDefault(); this.save(event.target); });
    value.addEventListener("click", ({ target }) => { if (target.closest("[data-close]")) this.leave(); });
    value.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !this.former) return;
      event.preventDefault();
      event.stopPropagation();
      this.leave();
    });
  }

  async open() {
    if (this.former) return;
    const response = await fetch(`${this.form}?_field=${this.field}`);
    const page = parsed(await response.text());
    if (!response.ok || !page.querySelector(".inline-form .field")) { location.href = this.form; return; }
    if (this.former) return;
    this.former = [...this.value.childNodes];
    this.show(page);
  }

  show(page) {
    this.value.replaceChildren(...page.body.childNodes);
    enhance(this.value);
    this.unchanged = entered(this.value.querySelector("form"));
    this.value.querySelector("[aria-invalid], [role=combobox], input:not([type=hidden], [hidden]), select:not([hidden]), textarea")?.focus();
  }

  leave() {
    this.value.replaceChildren(...this.former);
    this.former = null;
    this.focus();
  }

  async save(form) {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
    const page = parsed(await response.text());
    if (page.querySelector(".inline-form")) { this.show(page); return; }
    if (!response.ok || !response.redirected) { form.submit(); return; } // such as the sign-in page, which keeps the form
    await this.saved(page);
    const notice = page.querySelector("[data-notice]");
    document.querySelector("[data-notice]")?.remove();
    if (!notice) return;
    for (const next of notice.querySelectorAll("input[name=next]")) next.value = location.pathname.slice(MOUNT.length) + location.search;
    document.getElementById("content").prepend(notice);
  }
}

class Fact extends Place {
  constructor(fact, form) {
    super(fact.querySelector("dd"), fact.dataset.field, form);
    this.label = fact.querySelector("dt").textContent;
    this.addButton();
    fact.addEventListener("dblclick", ({ target }) => { if (!target.closest("a, button, form")) this.open(); });
  }

  addButton() {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy edit-value", textContent: "Edit" });
    button.setAttribute("aria-label", `Edit ${this.label}`);
    button.addEventListener("click", () => this.open());
    this.value.append(button);
  }

  focus() { this.value.querySelector(".edit-value").focus(); }

  saved(page) {
    const now = page.querySelector(`[data-field="${this.field}"] dd`);
    this.value.replaceChildren(...(now ? now.childNodes : []));
    this.former = null;
    enhance(this.value.parentElement);
    this.addButton();
    this.focus();
  }
}

class Cell extends Place {
  constructor(cell, field, table) {
    const row = cell.parentElement;
    super(cell, field, `${table.dataset.inline}${row.dataset.key}/edit/`);
    Object.assign(this, { table, row });
    cell.place = this;
    cell.tabIndex = -1;
    cell.addEventListener("click", (event) => this.clicked(event));
    cell.addEventListener("dblclick", ({ target }) => {
      clearTimeout(this.following);
      if (!target.closest("button, form")) this.openAlone();
    });
    cell.addEventListener("focus", () => this.markCurrent());
    cell.addEventListener("keydown", (event) => this.key(event));
  }

  // A link waits for a second click: a double click edits the reference in place. Keys and modified clicks follow at once.
  clicked(event) {
    const link = event.target.closest("td a[href]");
    if (!link || event.defaultPrevented || !event.detail || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    clearTimeout(this.following);
    if (event.detail === 1) this.following = setTimeout(() => location.assign(link.href), DOUBLE_CLICK);
  }

  openAlone() { // the ids of two forms would be the same
    const other = this.table.querySelector(".inline-form")?.closest("td, th").place;
    if (other && other !== this) {
      if (entered(other.value.querySelector("form")) !== other.unchanged) { other.value.querySelector("input:not([type=hidden]), select")?.focus(); return; }
      other.leave();
    }
    this.open();
  }

  markCurrent() { // the one cell that the Tab key reaches
    for (const cell of this.table.querySelectorAll("[tabindex='0']")) cell.tabIndex = -1;
    this.value.tabIndex = 0;
  }

  key(event) {
    if (event.target !== this.value || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "F2" || event.key === "Enter") this.openAlone();
    else if (DIRECTIONS[event.key]) {
      const [down, right] = DIRECTIONS[event.key], rows = [...this.table.tBodies].flatMap((body) => [...body.rows]);
      const row = rows[rows.indexOf(this.row) + down];
      const cells = [...(row?.cells ?? [])].filter((cell) => cell.place);
      const own = [...this.row.cells].filter((cell) => cell.place).indexOf(this.value);
      cells[own + right]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus() { this.value.focus(); }

  async saved() { // one field may change others, so the whole row is shown anew
    const url = new URL(location.href), columns = [this.table.dataset.columns ?? url.searchParams.getAll("_columns")].flat();
    url.search = new URLSearchParams([["id", this.row.dataset.key], ["_part", "list"], ...columns.map((text) => ["_columns", text])]);
    const page = parsed(await (await fetch(url)).text());
    const fresh = page.querySelector(`#list tr[data-key="${CSS.escape(this.row.dataset.key)}"]`);
    if (!fresh || fresh.cells.length !== this.row.cells.length) { location.reload(); return; }
    const place = this.value.cellIndex;
    [...fresh.cells].forEach((cell, index) => { if (!cell.matches(".select")) this.row.cells[index].replaceWith(cell); });
    enhance(this.row);
    addRowCells(this.table, this.row);
    this.row.cells[place].focus();
  }
}

function addRowCells(table, row) {
  [...table.tHead.rows[0].cells].forEach((header, index) => {
    if (header.dataset.field) new Cell(row.cells[index], header.dataset.field, table);
  });
}

// Makes the cells of a body of a table places; of tables whose values can be changed.
export function addCells(body) {
  const table = body.closest("table[data-inline]");
  if (table) for (const row of body.rows) addRowCells(table, row);
}

export function addEditing(root) {
  for (const facts of root.querySelectorAll(".facts[data-inline]")) {
    for (const fact of facts.querySelectorAll("[data-field]")) new Fact(fact, facts.dataset.inline);
  }
  for (const table of root.querySelectorAll("table[data-inline]")) {
    addCells(table.tBodies[0]);
    const first = table.querySelector("tbody [tabindex='-1']");
    if (first) first.tabIndex = 0;
  }
}
