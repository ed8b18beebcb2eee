// The editors of the browsable API send their requests in place, and show the answer above.
import { enhance } from "./enhance.js";

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-api-request]");
  const shown = document.getElementById("api-answer");
  if (!form || !shown) return;
  event.preventDefault();
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const part = page.getElementById("api-answer");
  if (!part) return form.submit();
  shown.replaceWith(part);
  enhance(part);
  part.focus();
  part.scrollIntoView({ block: "nearest" });
});
