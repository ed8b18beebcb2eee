// Forms: focus on errors, slugs from names, colours, pasted images, and forms that are sent again after the sign-in.
// The slug of a name as the service makes it. It is blank for letters of other scripts, which only the service transliterates.
export const slug = (text, joint = "-") => {
  const plain = text.normalize("NFKD");
  if (/[^\x00-\x7f\p{M}]/u.test(plain)) return "";
  return plain.toLowerCase().replace(/[^a-z0-9_\s-]/g, "").replace(/[\s-]+/g, joint).replace(/^[-_]+|[-_]+$/g, "");
};

document.querySelector("[data-focus]")?.focus();
document.querySelector("form[data-send-again]")?.requestSubmit();

document.addEventListener("input", ({ target }) => {
  if (/\[.*\]/.test(target.value)) return; // a pattern of several names
  for (const field of target.form?.querySelectorAll(`[data-slug-of="${CSS.escape(target.name)}"]`) ?? []) {
    if (!field.value || field.value === field.made) field.value = field.made = slug(target.value, field.dataset.slugJoint).slice(0, field.maxLength > 0 ? field.maxLength : undefined);
  }
  if (target.matches("[data-color-text]") && target.picker) target.picker.value = target.value;
});

export function addColorInputs(root) {
  for (const field of root.querySelectorAll("[data-color-text]")) addColorInput(field);
}

function addColorInput(field) {
  const picker = Object.assign(document.createElement("input"), { type: "color", value: field.value, title: "Choose a colour" });
  picker.setAttribute("aria-label", "Choose a colour");
  field.picker = picker;
  picker.addEventListener("input", () => { field.value = picker.value; });
  field.before(picker);
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
