"""The site of the documents: it builds without a warning, links lead somewhere, nothing comes from outside."""

from __future__ import annotations

import functools
import http.server
import os
import posixpath
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.chromium import Chromium, find_chromium
from tests.support.paths import ROOT

pytest.importorskip("mkdocs", reason="needs the extra 'docs'")
pytest.importorskip("material", reason="needs the extra 'docs'")
pytest.importorskip("mkdocstrings", reason="needs the extra 'docs'")
pytestmark = pytest.mark.slow
PHONE_PX = 380
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        about = dict(attributes)
        self.anchors |= {value for value in (about.get("id"), about.get("name")) if value}
        if tag == "a" and about.get("href"):
            self.links.append(about["href"] or "")
        if tag in LOADED and about.get(LOADED[tag]):
            self.loaded.append(about[LOADED[tag]] or "")


def joined(page: str, link: str) -> str:
    """Where a link of a page leads, within the site; "" is the page itself."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) if link else page


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    about = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=about)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_of_the_site_leads_to_a_file_and_an_anchor(site, pages):
    broken = []
    for name, page in pages.items():
        if name == "404.html":  # its links start at the root of a server
            continue
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = joined(name, unquote(parts.path))
            if target not in pages:
                if not (site / target).is_file() and not (site / target / "index.html").is_file():
                    broken.append(f"{name}: {link}")
            elif parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{name}: {link}")
    assert not broken, "\n".join(broken)


def test_no_page_loads_anything_from_outside(pages):
    outside = {
        f"{name}: {url}"
        for name, page in pages.items()
        for url in page.loaded
        if urlsplit(url).scheme not in ("", "data") or urlsplit(url).netloc
    }
    assert not outside, "\n".join(sorted(outside))


def test_the_reference_documents_what_is_exported(pages):
    import posepipe
    import posepipe.learn

    for package, page in ((posepipe, "posepipe"), (posepipe.learn, "learn")):
        listed = pages[f"reference/api/{page}.html"]
        named = {anchor.rpartition(".")[2] for anchor in listed.anchors}
        named |= {link.rpartition(".")[2] for link in listed.links}
        assert set(package.__all__) <= named


@pytest.mark.skipif(find_chromium() is None, reason="needs chromium")
@pytest.mark.parametrize("name", ["index.html", "guides/coming-from.html", "notebooks/first_recording.html"])
def test_a_phone_shows_a_page_whole_and_asks_nobody_else(site, name):
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        own = f"http://127.0.0.1:{server.server_port}/"
        with Chromium(own + name, PHONE_PX, 800) as browser:
            browser.wait_for("document.readyState === 'complete' && document.querySelector('h1') !== null")
            assert browser.evaluate("document.documentElement.scrollWidth") <= PHONE_PX
            assert [url for url in browser.requests if not url.startswith((own, "data:", f"blob:{own}"))] == []
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, *_: object) -> None:
        pass
