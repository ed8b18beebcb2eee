// Buttons that copy: beside [data-copy] its own text, with a value that of the element it selects. Key y copies the first.
async function copy(button) {
  const element = button.copied;
  const text = element.value ?? element.textContent; // an element `data` shows the beginning of its value
  try {
    await navigator.clipboard.writeText(text.trim());
  } catch { // without HTTPS there is no clipboard
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  if (button.textContent === "Copied") return;
  const name = button.getAttribute("aria-label");
  button.textContent = "Copied";
  button.setAttribute("aria-label", "Copied"); // read aloud, since the button has the focus
  setTimeout(() => { button.textContent = "Copy"; button.setAttribute("aria-label", name); }, 1500);
}

export function addCopyButtons(root) {
  for (const element of root.querySelectorAll("dd [data-copy], pre[data-copy]")) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "copy", textContent: "Copy", copied: element });
    button.setAttribute("aria-label", `Copy ${element.dataset.copy || element.textContent.trim().slice(0, 60)}`);
    button.addEventListener("click", () => copy(button));
    element.after(button);
  }
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (event.key !== "y" || typing || event.ctrlKey || event.metaKey || event.altKey || document.body.hasAttribute("data-no-shortcuts")) return;
  document.querySelector("button.copy")?.click();
});
