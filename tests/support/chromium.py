"""A real browser without a window, driven by its DevTools protocol, that reaches nothing but this machine."""

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


def find_chromium() -> str | None:
    """Where the browser is, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    """One page of one browser. What it and its workers ask the network for is in `requests`."""

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

        noted = Path(self._folder) / "DevToolsActivePort"
        until = time.monotonic() + PATIENCE_S
        while not (noted.exists() and noted.read_text().count("\n") >= 1):
            assert time.monotonic() < until, "the browser did not start"
            time.sleep(0.05)
        port, path = noted.read_text().split("\n")[:2]
        self._socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None)
        targets = self._send("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._page = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._watch(self._page)
        self.command("Emulation.setDeviceMetricsOverride", **_metrics(*self._size))
        self.command("Page.navigate", url=self._url)

    def _watch(self, session: str) -> None:
        """Be told of the network of a page or worker, and of the workers that it starts, before they run."""
        self._send("Network.enable", session)
        attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self._send("Target.setAutoAttach", session, **attach)
        self._post("Runtime.runIfWaitingForDebugger", session)

    def command(self, method: str, **parameters: Any) -> dict:
        """Ask the page for something; what it answers."""
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
        """Click the innermost thing with exactly this text, as the mouse does."""
        find = f"""(() => {{
            const all = [...document.querySelectorAll('button, label, [role=tab], span, div')];
            const hits = all.filter(e => e.innerText && e.innerText.trim() === {json.dumps(label)});
            if (!hits.length) return null;
            hits[hits.length - 1].scrollIntoView({{block: 'nearest'}});
            const box = hits[hits.length - 1].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        x, y = self.wait_for(find)
        self.click_at(x, y)

    def dismiss_warning(self) -> None:
        """Close the note that there is no graphics card."""
        self.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(e => e.click())")

    def click_at(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def toggle(self, label: str) -> None:
        """Click the box beside this text."""
        x, y = self.wait_for(f"""(() => {{
            const all = [...document.querySelectorAll('label')];
            const row = all.find(e => e.innerText.trim() === {json.dumps(label)});
            row?.scrollIntoView({{block: 'nearest'}});
            const box = row && (row.control ?? row.closest('div')).getBoundingClientRect();
            return box && [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.click_at(x, y)

    def press(self, letter: str) -> None:
        """Press the key of a letter."""
        self.press_key(letter.lower(), ord(letter.upper()), f"Key{letter.upper()}")

    def press_key(self, key: str, number: int, code: str | None = None) -> None:
        for kind in ("keyDown", "keyUp"):
            about = {"key": key, "code": code or key, "windowsVirtualKeyCode": number}
            self.command("Input.dispatchKeyEvent", type=kind, **about)

    def screenshot(self) -> np.ndarray:
        """What the page shows: uint8 (H, W, 3), BGR."""
        data = base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])
        return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict:
        number = self._post(method, session, **parameters)
        while number not in self._answers:  # taking note of an event may itself ask and wait
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._note(message)
        answer = self._answers.pop(number)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _post(self, method: str, session: str | None, **parameters: Any) -> int:
        self._count += 1
        about = {"sessionId": session} if session else {}
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters, **about}))
        return self._count

    def _note(self, message: dict) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"][:80])  # pictures are addresses too
        elif method == "Network.webSocketCreated":
            self.requests.append(about["url"])
        elif method == "Target.attachedToTarget":
            self._watch(about["sessionId"])


def _metrics(width: int, height: int) -> dict:
    return {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
