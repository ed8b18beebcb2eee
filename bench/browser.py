"""Pages in Chromium: how long the largest element takes to appear (LCP), and the slowest answer to input (INP)."""

from __future__ import annotations

import dataclasses
import shutil
import statistics
from collections.abc import Callable
from typing import Any

from bench.service import Service
from bench.world import World

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VISITS = 5
SLOWDOWN = 4  # of the browser's processor, as in Lighthouse
OBSERVE = """
() => {
  window.paint = 0; window.shift = 0; window.delays = [];
  const observe = (type, each, options = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each)).observe({ type, buffered: true, ...options });
  observe("largest-contentful-paint", (entry) => { window.paint = entry.startTime; });
  observe("layout-shift", (entry) => { window.shift += entry.hadRecentInput ? 0 : entry.value; });
  observe("event", (entry) => entry.interactionId && window.delays.push(entry.duration), { durationThreshold: 16 });
}
"""
READ = "() => [window.paint, window.shift, Math.max(0, ...window.delays)]"


@dataclasses.dataclass(frozen=True)
class BrowserResult:
    """Medians of one page: LCP and INP in ms, and CLS. Chromium does not report answers below 16 ms: INP is then 0."""

    name: str
    lcp_ms: float
    inp_ms: float
    cls: float


def pages_of(world: World) -> dict[str, str]:
    """The paths of the ten main pages by name."""
    first = {path: keys[0] for path, keys in world.ids.items() if keys}
    device = f"/dcim/devices/{first['dcim/devices/']}/"
    return {
        "home": "/",
        "devices": "/dcim/devices/",
        "device": device,
        "form of a device": f"{device}edit/",
        "changes of a device": f"{device}changelog/",
        "interfaces of a device": f"{device}interfaces/",
        "rack": f"/dcim/racks/{first['dcim/racks/']}/",
        "addresses": "/ipam/ip-addresses/",
        "prefix": f"/ipam/prefixes/{first['ipam/prefixes/']}/",
        "search": "/search/?q=device-0001",
    }


def measure(service: Service, world: World, progress: Callable[[str], None]) -> list[BrowserResult]:
    """Visits the pages with a warm cache and a slowed processor.

    :raises RuntimeError: without Chromium or Playwright
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise RuntimeError("Playwright is not installed.") from None
    if CHROMIUM is None:
        raise RuntimeError("Chromium is not installed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(base_url=service.url, viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto("/login/")
        page.fill("#username", service.username)
        page.fill("#password", service.password)
        page.press("#password", "Enter")
        page.wait_for_url("**/")
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        results = []
        for name, path in pages_of(world).items():
            progress(f"Chromium: {name}")
            results.append(_visited(page, name, path))
        browser.close()
    return results


def _visited(page: Any, name: str, path: str) -> BrowserResult:
    """Visits a page several times; each time types into the search box, which every page has."""
    visits = []
    for number in range(VISITS + 1):
        page.goto(path, wait_until="networkidle")
        page.evaluate(OBSERVE)
        page.wait_for_timeout(100)
        page.click("#search-box")
        page.keyboard.type("de", delay=150)
        page.wait_for_timeout(300)
        if number:
            visits.append(page.evaluate(READ))
    lcp, cls, inp = (statistics.median(column) for column in zip(*visits, strict=True))
    return BrowserResult(name, lcp, inp, cls)
