"""A page in a browser, and all that goes wrong in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, Page

_WATCH = """
addEventListener("securitypolicyviolation", (event) => {
    (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI}`);
    console.error("policy: " + event.violatedDirective + " " + event.blockedURI);
});
"""


@dataclass
class Visit:
    """A page in a browser of its own, and all that went wrong in it."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Go to a path of the service."""
        self.page.goto(self.url + path)

    @property
    def shown(self) -> str:
        """Id of the sample that is shown."""
        return self.page.get_attribute("#sample", "data-id") or ""

    def press(self, key: str) -> None:
        """Press a key."""
        self.page.keyboard.press(key)

    def step(self, key: str) -> str:
        """Press a key and wait for another sample; its id."""
        before = self.shown
        self.press(key)
        self.page.wait_for_function(
            "before => document.getElementById('sample').dataset.id !== before", arg=before
        )
        return self.shown

    def name(self, labeler: str) -> None:
        """Say who labels, without a mouse."""
        self.press("y")  # not taken without a name: the field asks for it
        assert self.page.evaluate("document.activeElement.name") == "labeler"
        self.page.keyboard.type(labeler)
        self.press("Enter")


def watched(context: BrowserContext, url: str) -> Visit:
    """A page that remembers its errors and every request that is not to `url`."""
    context.add_init_script(_WATCH)
    visit = Visit(context.new_page(), url)
    visit.page.on("pageerror", lambda error: visit.faults.append(f"error: {error}"))
    visit.page.on("crash", lambda _: visit.faults.append("the page crashed"))
    visit.page.on(
        "console", lambda message: visit.faults.append(message.text) if message.type == "error" else None
    )
    context.on(
        "request",
        lambda request: (
            None if request.url.startswith(url + "/") else visit.faults.append(f"left: {request.url}")
        ),
    )
    return visit
