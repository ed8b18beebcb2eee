// Parts of pages that fold: the navigation, wide at first, and the counts beside lists, closed at first. A cookie tells
// the server which are otherwise, so that pages come as they were left.
import { MOUNT } from "./mount.js";

const NAME = "netinv_toggled";

function toggled() {
  const found = document.cookie.split("; ").find((text) => text.startsWith(`${NAME}=`));
  return new Set((found ?? "").slice(NAME.length + 1).split(".").filter(Boolean));
}

function remember(part, differs) {
  const parts = toggled();
  if (differs) parts.add(part); else parts.delete(part);
  document.cookie = `${NAME}=${[...parts].join(".")}; path=${MOUNT || "/"}; max-age=31536000; samesite=lax`;
  document.documentElement.dataset.toggled = [...parts].join(" ");
}

// "toggle" does not bubble, but is seen on its way down.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details[data-part]") && target.open !== toggled().has(target.dataset.part)) remember(target.dataset.part, target.open);
}, true);

const button = document.querySelector("[data-fold-rail]");
if (button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isNarrow = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isNarrow));
    remember("rail", isNarrow);
  });
}
