// Parts of a page that reload themselves while something runs: after 1 s, then less often, at least every 5 s.
import { enhance } from "./enhance.js";

// Keeps what is the same, so that screen readers read out only what is new, and the focus stays.
function merge(old, next) {
  if (old.isEqualNode(next) || (old.nodeName === "TIME" && old.dateTime === next.dateTime)) return;
  if (old.nodeName !== next.nodeName || old.nodeType !== Node.ELEMENT_NODE) return old.replaceWith(next);
  for (const name of old.getAttributeNames()) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const name of next.getAttributeNames()) old.setAttribute(name, next.getAttribute(name));
  const parts = [...next.childNodes];
  [...old.childNodes].forEach((child, place) => (parts[place] ? merge(child, parts[place]) : child.remove()));
  old.append(...parts.slice(old.childNodes.length));
}

function poll(element, delay) {
  setTimeout(async () => {
    if (!element.isConnected) return;
    try {
      const response = await fetch(element.dataset.poll, { headers: { Accept: "text/html" } });
      if (!response.ok || response.redirected) return;
      const part = document.createElement("template");
      part.innerHTML = await response.text();
      merge(element, part.content.firstElementChild);
      enhance(element);
    } catch { /* the service is away for a moment */ }
    if (element.dataset.poll) poll(element, Math.min(delay * 1.5, 5000));
  }, delay);
}

export function pollParts(root) {
  for (const element of root.querySelectorAll("[data-poll]")) poll(element, 1000);
}
