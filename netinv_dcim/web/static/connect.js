// Connecting ports: the ports of a device are shown as soon as it is chosen. The script of lists replaces the page's part.
const form = () => document.querySelector("form.connect");
const FIELDS = ["a_in", "b_in", "a_of", "b_of", "a", "to_in", "to_of", "to", "end", "way"];

document.addEventListener("change", ({ target }) => {
  if (!form()?.contains(target) || !FIELDS.includes(target.name) || !target.value) return;
  form().requestSubmit(form().querySelector("[data-show]"));
});

// Enter in a field of the cable or at a port connects, it does not show ports; with Shift it goes on from there.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.defaultPrevented || !event.target.matches?.(".cable-fields input:not([role]), .ports input")) return;
  event.preventDefault();
  const further = event.shiftKey && (form().querySelector('[value="on"]') ?? form().querySelector('[value="next"]'));
  form().requestSubmit(further || form().querySelector("button.primary"));
});

function focus() {
  if (!form() || form().querySelector('[role="alert"]')) return;
  for (const name of ["a", "b", "to"]) {
    const host = form().elements[`${name}_of`];
    if (!host || host.value) continue;
    form().querySelector(`[name="${name}_of"]`)?.closest(".picker")?.querySelector('[role="combobox"]')?.focus();
    return;
  }
  const ports = 'input:is([name="b"], [name="to"])', chosen = form().querySelector(`${ports}:checked`) ?? form().querySelector(`${ports}:enabled`);
  chosen?.focus();
}

// Chosen ports are in the middle of their lists; the page itself does not move.
function showChosen() {
  for (const chosen of form()?.querySelectorAll(".ports :checked") ?? []) {
    const list = chosen.closest(".ports"), line = chosen.closest("label");
    list.scrollTop += line.getBoundingClientRect().top - list.getBoundingClientRect().top - (list.clientHeight - line.offsetHeight) / 2;
  }
}

function show() {
  focus();
  showChosen();
}

new MutationObserver(show).observe(document.getElementById("content"), { childList: true });
addEventListener("load", show); // pickers are there by then
