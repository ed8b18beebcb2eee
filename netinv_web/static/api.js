// The editors of the browsable API send their requests in place, and show the answer above.
import { enhance } from "./enhance.js";

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-api-request]");
  const shown = document.getElementById("api-answer");
  if (!form || !shown) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const answer = await fetch(form.action, { method: "POST", body });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const part = page.getElementById("api-answer");
  const again = page.getElementById("api-form");
  if (!part && !again) { // such as the page to sign in again
    const method = Object.assign(document.createElement("input"), { type: "hidden", name: event.submitter?.name ?? "", value: event.submitter?.value ?? "" });
    form.append(method);
    return form.submit();
  }
  for (const [id, fresh] of [["api-form", again], ["api-answer", part]]) {
    if (!fresh) continue;
    document.getElementById(id)?.replaceWith(fresh);
    enhance(fresh);
  }
  const focus = again?.querySelector("[data-focus]") ?? part ?? again;
  focus.focus();
  focus.scrollIntoView({ block: "nearest" });
});
