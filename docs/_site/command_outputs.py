"""Fill the pages with what their commands print: no figure of a page is typed.

A block between ``<!-- output -->`` and ``<!-- end of output -->`` belongs to the ``sh`` example before it. The example
is run, and the last paragraph that its last command prints is written into the block. All examples of all pages share
one folder, so that what one renders or trains is there for the next::

    python docs/_site/command_outputs.py .work/outputs docs/evaluation/forest.md
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(
    r"^```sh\n(?P<example>(?:(?!^```).*\n)*)```\n(?P<between>(?:(?!^```sh|^<!-- output).*\n)*)<!-- output -->\n"
    r"(?:.*\n)*?<!-- end of output -->$",
    re.MULTILINE,
)


def fill_page(page: Path, folder: Path, only: str = "") -> int:
    """Run the examples of a page that have a block for their output, and hold a text; returns how many there are."""
    blocks = [block for block in _BLOCK.finditer(page.read_text("utf-8")) if only in block["example"]]
    for block in blocks:
        example, between = block["example"], block["between"]
        text = output_of(example, folder)
        filled = f"```sh\n{example}```\n{between}<!-- output -->\n```text\n{text}\n```\n<!-- end of output -->"
        page.write_text(page.read_text("utf-8").replace(block[0], filled), "utf-8")  # each at once: they take long
    return len(blocks)


def output_of(example: str, folder: Path) -> str:
    """Run an example in a folder and return the last paragraph of what its last command prints."""
    folder.mkdir(parents=True, exist_ok=True)
    *before, last = _commands(example)
    script = "\n".join(["set -euo pipefail", *(f"{{ {command}; }} >&2" for command in before), last])
    print(f"+ {last}", file=sys.stderr, flush=True)
    ran = subprocess.run(["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    paragraph = ran.stdout.strip("\n").split("\n\n")[-1].strip("\n")
    return "\n".join(line.rstrip() for line in paragraph.splitlines())


def _commands(example: str) -> list[str]:
    """Commands of an example, without comments, each on one line."""
    lines = re.sub(r"\\\n\s*", "", example).splitlines()
    return [line for line in (re.sub(r"(^|\s)#.*", "", line).strip() for line in lines) if line]


def main() -> None:
    """Fill the pages that the command line names."""
    parser = argparse.ArgumentParser(description="fill pages with what their examples print")
    parser.add_argument("folder", type=Path, help="where the examples run; what they make is kept there")
    parser.add_argument("pages", nargs="+", type=Path, help="pages in Markdown")
    parser.add_argument("--only", default="", metavar="TEXT", help="only examples that hold this text")
    args = parser.parse_args()
    for page in args.pages:
        print(f"{page}: {fill_page(page, args.folder, args.only)} outputs")


if __name__ == "__main__":
    main()
