// Parts of a page that reload themselves while something runs: after 1 s, then less often, at least every 5 s.
import { enhance } from "./enhance.js";

function poll(element, delay) {
  setTimeout(async () => {
    if (!element.isConnected) return;
    try {
      const response = await fetch(element.dataset.poll, { headers: { Accept: "text/html" } });
      if (!response.ok || response.redirected) return;
      const part = document.createElement("template");
      part.innerHTML = await response.text();
      const next = part.content.firstElementChild;
      element.replaceWith(next);
      enhance(next);
      element = next;
    } catch { /* the service is away for a moment */ }
    if (element.dataset.poll) poll(element, Math.min(delay * 1.5, 5000));
  }, delay);
}

export function pollParts(root) {
  for (const element of root.querySelectorAll("[data-poll]")) poll(element, 1000);
}
