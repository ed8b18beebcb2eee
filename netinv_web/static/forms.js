// Forms: focus on errors or the first field, slugs from names, colours, pasted images, and forms that are sent again after the sign-in.
import { MOUNT } from "./mount.js";
// The slug of a name as the service makes it. It is blank for letters of other scripts, which only the service transliterates.
export const slug = (text, joint = "-") => {
  const plain = text.normalize("NFKD");
  if (/[^\x00-\x7f\p{M}]/u.test(plain)) return "";
  return plain.toLowerCase().replace(/[^a-z0-9_\s-]/g, "").replace(/[\s-]+/g, joint).replace(/^[-_]+|[-_]+$/g, "");
};

document.querySelector("[data-focus]")?.focus();
addEventListener("load", () => { // pickers are there by then
  if (document.activeElement !== document.body || matchMedia("(pointer: coarse)").matches) return; // no keyboard pops up
  const form = document.querySelector("form[data-form]"), named = form?.elements[location.hash.slice(1)];
  const fields = [...form?.querySelectorAll("fieldset :is(input:not([type=hidden]), select, textarea):not(:disabled)") ?? []];
  const field = named ?? ((fields[0]?.value && fields.find((field) => field.required && !field.value)) || fields[0]);
  (field?.closest("[data-picker]")?.querySelector("[role=combobox]") ?? field)?.focus();
});
document.querySelector("form[data-send-again]")?.requestSubmit();

document.addEventListener("input", ({ target }) => {
  if (/\[.*\]/.test(target.value)) return; // a pattern of several names
  for (const field of target.form?.querySelectorAll(`[data-slug-of="${CSS.escape(target.name)}"]`) ?? []) {
    if (!field.value || field.value === field.made) field.value = field.made = slug(target.value, field.dataset.slugJoint).slice(0, field.maxLength > 0 ? field.maxLength : undefined);
  }
  if (target.matches("[data-color-text]") && target.picker) showColor(target);
});

// What a pattern stands for, as the service expands it.
let expanding;
document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-pattern]")) return;
  clearTimeout(expanding);
  expanding = setTimeout(expand, 200, target);
});

async function expand(field) {
  const text = field.value, note = field.parentElement.querySelector("output");
  if (!/\[.*\]/.test(text)) return note?.remove();
  const response = await fetch(`${MOUNT}/expand/?text=${encodeURIComponent(text)}`).catch(() => null);
  if (!response?.ok || response.redirected || field.value !== text) return;
  const shown = note ?? document.createElement("output");
  if (!note) field.after(shown);
  shown.innerHTML = await response.text();
}

// A field whose choices depend on others is shown again when these change.
document.addEventListener("change", async ({ target }) => {
  const form = target.form, shown = [...(form?.querySelectorAll("[data-refreshed-by]") ?? [])];
  const button = shown.find((item) => item.dataset.refreshedBy.split(" ").includes(target.name));
  const old = button?.closest(".field"), id = old?.querySelector("[id]").id;
  if (!old) return;
  const response = await fetch(form.action, { method: "POST", body: new FormData(form, button), headers: { Accept: "text/html" } }).catch(() => null);
  if (!response?.ok || response.redirected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById(id)?.closest(".field");
  if (fresh) old.replaceWith(document.adoptNode(fresh));
});

// A button that asks for a part of the form anew leaves the rest as it is.
document.addEventListener("submit", async (event) => {
  const button = event.submitter, id = button?.dataset.refreshes, old = id && document.getElementById(id);
  if (!old) return;
  event.preventDefault();
  const response = await fetch(event.target.action, { method: "POST", body: new FormData(event.target, button), headers: { Accept: "text/html" } }).catch(() => null);
  const fresh = response?.ok && !response.redirected && new DOMParser().parseFromString(await response.text(), "text/html").getElementById(id);
  if (!fresh) { delete button.dataset.refreshes; return button.click(); } // a whole page says why
  old.replaceWith(document.adoptNode(fresh));
  fresh.querySelector("[data-refreshes]")?.focus();
});

// The Enter key in such a part asks for the part.
document.addEventListener("keydown", (event) => {
  const button = event.key === "Enter" && event.target.matches?.(".form-part input") && event.target.closest(".form-part").querySelector("[data-refreshes]");
  if (!button) return;
  event.preventDefault();
  button.click();
});

export function addColorInputs(root) {
  for (const field of root.querySelectorAll("[data-color-text]")) addColorInput(field);
}

function addColorInput(field) {
  const picker = Object.assign(document.createElement("input"), { type: "color", title: "Choose a colour" });
  picker.setAttribute("aria-label", "Choose a colour");
  field.picker = picker;
  picker.addEventListener("input", () => {
    field.value = picker.value;
    showColor(field);
  });
  showColor(field);
  field.before(picker);
}

// The input of the browser is black where there is no colour.
function showColor(field) {
  const color = /^#?([0-9a-f]{6})$/i.exec(field.value);
  field.picker.value = color ? `#${color[1]}` : "#000000";
  field.picker.classList.toggle("unset", !color);
}

document.addEventListener("paste", (event) => {
  const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
  const field = document.querySelector('input[type="file"][accept^="image"]');
  if (!file || !field) return;
  const files = new DataTransfer();
  files.items.add(file);
  field.files = files.files;
  event.preventDefault();
});
