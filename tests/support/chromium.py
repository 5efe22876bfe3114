"""A headless browser, driven by its DevTools protocol, without access to other machines."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cv2
import numpy as np

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)
PATIENCE_S = 20.0
_VISIBLE_MIDDLE = """(() => {{
    const element = {find};
    if (!element) return null;
    element.scrollIntoView({{block: 'nearest'}});
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const hit = box.width && box.height && document.elementFromPoint(x, y);
    return hit && (element.contains(hit) || hit.contains(element) || hit.control === element) ? [x, y] : null;
}})()"""


def find_chromium() -> str | None:
    """Path of the browser; None if it is not installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    """One page of one browser. `requests` holds the network requests of the page and its workers."""

    def __init__(self, url: str, width: int = 1280, height: int = 800) -> None:
        self._url, self._size = url, (width, height)
        self.requests: list[str] = []
        self._count, self._answers = 0, {}

    def __enter__(self) -> Self:
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        size = f"--window-size={self._size[0]},{self._size[1]}"
        program = find_chromium()
        assert program is not None
        self._process = subprocess.Popen(
            [program, *FLAGS, size, f"--user-data-dir={self._folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._open()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._end()

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _open(self) -> None:
        from websockets.sync.client import connect

        port_file = Path(self._folder) / "DevToolsActivePort"
        until = time.monotonic() + PATIENCE_S
        while not (port_file.exists() and port_file.read_text().count("\n") >= 1):
            assert time.monotonic() < until, "the browser did not start"
            time.sleep(0.05)
        port, path = port_file.read_text().split("\n")[:2]
        self._socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None, ping_interval=None)
        targets = self._send("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._page = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._watch(self._page)
        self.command("Emulation.setDeviceMetricsOverride", **_metrics(*self._size))
        self.command("Page.navigate", url=self._url)

    def _watch(self, session: str) -> None:
        """Record the network requests of a page or worker, and of the workers that it starts."""
        self._send("Network.enable", session)
        attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self._send("Target.setAutoAttach", session, **attach)
        self._post("Runtime.runIfWaitingForDebugger", session)

    def command(self, method: str, **parameters: Any) -> dict:
        """Send a command to the page; return its answer."""
        return self._send(method, self._page, **parameters)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """The value of an expression, once it is true."""
        until = time.monotonic() + PATIENCE_S
        while not (value := self.evaluate(script)):
            assert time.monotonic() < until, f"never true: {script}\n{self.text()}"
            time.sleep(0.05)
        return value

    def wait_for_text(self, text: str) -> None:
        """Return once the page shows it."""
        self.wait_for(f"(document.body?.innerText ?? '').includes({json.dumps(text)})")

    def text(self) -> str:
        """All text of the page."""
        return self.evaluate("document.body?.innerText ?? ''")

    def click(self, label: str) -> None:
        """Click the innermost element with exactly this text, as the mouse does."""
        self._click_on(f"""[...document.querySelectorAll('button, label, [role=tab], span, div')]
            .filter(each => each.innerText && each.innerText.trim() === {json.dumps(label)}).pop()""")

    def dismiss_warning(self) -> None:
        """Close the warning that there is no graphics card."""
        self.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(e => e.click())")

    def toggle(self, label: str) -> None:
        """Click the box beside this text."""
        self._click_on(f"""(row => row && (row.control ?? row.closest('div')))(
            [...document.querySelectorAll('label')].find(each => each.innerText.trim() === {json.dumps(label)}))""")

    def _click_on(self, find: str) -> None:
        """Click the middle of an element, once it is on screen, at rest, and not covered by another.

        An element in a tab that is not shown yet has a box of size 0: a click there would be lost.
        """
        script = _VISIBLE_MIDDLE.format(find=find)
        before, now = None, self.wait_for(script)
        while now != before:
            time.sleep(0.05)
            before, now = now, self.wait_for(script)
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=now[0], y=now[1], button="left", clickCount=1)

    def press(self, letter: str) -> None:
        """Press the key of a letter."""
        self.press_key(letter.lower(), ord(letter.upper()), f"Key{letter.upper()}")

    def press_key(self, key: str, number: int, code: str | None = None) -> None:
        """Press a key, given its name and Windows key code."""
        for kind in ("keyDown", "keyUp"):
            about = {"key": key, "code": code or key, "windowsVirtualKeyCode": number}
            self.command("Input.dispatchKeyEvent", type=kind, **about)

    def screenshot(self) -> np.ndarray:
        """What the page shows: uint8 (H, W, 3), BGR."""
        data = base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])
        return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict:
        number = self._post(method, session, **parameters)
        while number not in self._answers:  # handling an event may itself send and wait
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._record(message)
        answer = self._answers.pop(number)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _post(self, method: str, session: str | None, **parameters: Any) -> int:
        self._count += 1
        about = {"sessionId": session} if session else {}
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters, **about}))
        return self._count

    def _record(self, message: dict) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"][:80])  # data URLs hold whole images
        elif method == "Network.webSocketCreated":
            self.requests.append(about["url"])
        elif method == "Target.attachedToTarget":
            self._watch(about["sessionId"])


def _metrics(width: int, height: int) -> dict:
    return {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
