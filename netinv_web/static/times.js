// Times relative to now, with the exact time as title.
const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function showTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const time = new Date(element.dateTime);
    const seconds = (time - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
    element.title = time.toLocaleString();
    const text = relative.format(Math.round(seconds / size), unit);
    if (element.textContent !== text) element.textContent = text; // screen readers read out what is set in live regions
  }
}
