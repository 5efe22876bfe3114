"""Pages of the site for files outside ``docs``, and links to them: documents at the root, and sources as listings.

In the repository, documents link to files beside them. The same links work on the site: every file that a page links
to has a page there, and its links are rewritten.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = {
    "README.md": "about.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "SECURITY.md": "development/security.md",
    "CHANGELOG.md": "development/changelog.md",
    "models/person.md": "evaluation/model-card.md",
    "models/person-fast.md": "evaluation/model-card-person-fast.md",
    "models/ceiling.md": "evaluation/model-card-ceiling.md",
}
"""Documents outside ``docs`` -> their place on the site."""
LANGUAGES = {".py": "python", ".toml": "toml", ".h": "c", ".json": "json"}
_LINK = re.compile(r"(\]\()([^)\s#]*)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add a page for every document and for every source file or folder that a page links to."""
    for document, place in DOCUMENTS.items():
        files.append(File.generated(config, place, content=(ROOT / document).read_text("utf-8")))
    wanted = {
        target
        for file in files.documentation_pages()
        for target in _targets(_origin(file.src_uri), file.content_string)
        if _is_source(target)
    }
    for target in sorted(wanted):
        files.append(File.generated(config, _place(target), content=_listing(target)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links to the pages of this site."""
    origin = _origin(page.file.src_uri)

    def rewritten(match: re.Match[str]) -> str:
        before, link, after = match.groups()
        target = _target(origin, link)
        if target is None or not (ROOT / target).exists():
            return match[0]
        return before + posixpath.relpath(_place(target), posixpath.dirname(page.file.src_uri)) + after

    return "".join(text if is_code else _LINK.sub(rewritten, text) for text, is_code in _stretches(markdown))


def _stretches(markdown: str) -> Iterator[tuple[str, bool]]:
    """Cut a text into prose and code: (text, is code)."""
    end = 0
    for code in _FENCE.finditer(markdown):
        yield markdown[end : code.start()], False
        yield code[0], True
        end = code.end()
    yield markdown[end:], False


def _origin(src_uri: str) -> str:
    """File of the repository that a page of the site comes from."""
    documents = {place: document for document, place in DOCUMENTS.items()}
    return documents.get(src_uri, f"docs/{src_uri}")


def _target(origin: str, link: str) -> str | None:
    """File of the repository that a link leads to; None for links within the page and to other hosts."""
    if not link or ":" in link:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))


def _targets(origin: str, markdown: str) -> Iterator[str]:
    for text, is_code in _stretches(markdown):
        for match in () if is_code else _LINK.finditer(text):
            target = _target(origin, match[2])
            if target is not None and (ROOT / target).exists():
                yield target


def _is_source(target: str) -> bool:
    """Whether a file is shown as a listing: code, and what lies outside ``docs`` without being a document."""
    if target.startswith("docs/"):
        return Path(target).suffix in LANGUAGES
    return target not in DOCUMENTS


def _place(target: str) -> str:
    """Place on the site of a file of the repository."""
    if _is_source(target):
        return f"source/{target}.md"
    page = DOCUMENTS.get(target) or target.removeprefix("docs/")
    return page.removesuffix(".ipynb") + ".md" if page.endswith(".ipynb") else page


def _listing(target: str) -> str:
    path = ROOT / target
    if path.is_dir():
        return f"# {target}/\n\n" + "\n".join(f"- `{name}`" for name in sorted(os.listdir(path)) if name[0] not in "._")
    text, language = path.read_text("utf-8"), LANGUAGES.get(path.suffix, "text")
    return f"# {target}\n\n~~~~{language}\n{text.rstrip()}\n~~~~\n"
