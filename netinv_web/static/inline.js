// Values of an object's page that are changed in their place: by their button, or a double click; Escape leaves.
import { addPickers } from "./picker.js";
import { showTimes } from "./times.js";

const facts = document.querySelector("[data-inline]");

function parsed(text) { return new DOMParser().parseFromString(text, "text/html"); }

function show(fact, page) {
  const value = fact.querySelector("dd");
  value.replaceChildren(...page.body.childNodes);
  addPickers(value);
  value.querySelector("[aria-invalid], [role=combobox], input:not([type=hidden]), select, textarea")?.focus();
}

async function open(fact) {
  const value = fact.querySelector("dd");
  if (value.former) return;
  const response = await fetch(`${facts.dataset.inline}?_field=${fact.dataset.field}`);
  const page = parsed(await response.text());
  if (!response.ok || !page.querySelector(".inline-form .field")) { location.href = facts.dataset.inline; return; }
  value.former = [...value.childNodes];
  show(fact, page);
}

function leave(fact, nodes) {
  const value = fact.querySelector("dd");
  value.replaceChildren(...(nodes ?? value.former));
  value.former = null;
  addButton(fact);
  fact.querySelector(".edit-value").focus();
}

async function save(fact, form) {
  const response = await fetch(form.action, { method: "POST", body: new FormData(form) });
  const page = parsed(await response.text());
  if (page.querySelector(".inline-form")) { show(fact, page); return; }
  const now = page.querySelector(`[data-field="${fact.dataset.field}"] dd`);
  if (!response.ok || !response.redirected) { form.submit(); return; } // such as the sign-in page, which keeps the form
  showTimes(page.body);
  leave(fact, now ? [...now.childNodes] : []);
  const notice = page.querySelector("[data-notice]");
  document.querySelector("[data-notice]")?.remove();
  if (notice) document.getElementById("content").prepend(notice);
}

function addButton(fact) {
  const value = fact.querySelector("dd");
  if (value.querySelector(".edit-value")) return;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy edit-value", textContent: "Edit" });
  button.setAttribute("aria-label", `Edit ${fact.querySelector("dt").textContent}`);
  button.addEventListener("click", () => open(fact));
  value.append(button);
}

for (const fact of facts?.querySelectorAll("[data-field]") ?? []) {
  addButton(fact);
  fact.addEventListener("dblclick", ({ target }) => { if (!target.closest("a, button, form")) open(fact); });
  fact.addEventListener("submit", (event) => { event.preventDefault(); save(fact, event.target); });
  fact.addEventListener("click", ({ target }) => { if (target.closest("[data-close]")) leave(fact); });
  fact.addEventListener("keydown", (event) => { if (event.key === "Escape" && fact.querySelector("form")) { event.stopPropagation(); leave(fact); } });
}
