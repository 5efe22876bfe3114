"""Figures of pages are printed by the examples above them: the tool that fills them in, and that nobody typed them."""

from __future__ import annotations

import importlib.util
import re

import pytest

from tests.support.paths import ROOT

PAGE = """# Title

```sh
echo prepared > made.txt      # a comment
echo first && echo && cat \\
    made.txt
```

Prose between them.

<!-- output -->
old
<!-- end of output -->

```sh
echo another
```
"""


@pytest.fixture(scope="module")
def command_outputs():
    spec = importlib.util.spec_from_file_location("command_outputs", ROOT / "docs" / "_site" / "command_outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_last_paragraph_of_an_example_fills_its_block(command_outputs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert command_outputs.fill_page(page, tmp_path / "work") == 1
    assert page.read_text() == PAGE.replace("\nold\n", "\n```text\nprepared\n```\n")
    assert command_outputs.fill_page(page, tmp_path / "work") == 1
    assert page.read_text() == PAGE.replace("\nold\n", "\n```text\nprepared\n```\n")


def test_only_examples_that_hold_a_text_are_run(command_outputs, tmp_path):
    page = tmp_path / "page.md"
    block = "```sh\necho {}\n```\n\n<!-- output -->\n<!-- end of output -->\n\n"
    page.write_text(block.format("first") + block.format("second"))
    assert command_outputs.fill_page(page, tmp_path / "work", only="second") == 1
    assert page.read_text().count("```text") == 1
    assert "```text\nsecond\n```" in page.read_text()


def test_an_example_that_fails_leaves_the_page(command_outputs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("echo prepared", "false"))
    with pytest.raises(command_outputs.subprocess.CalledProcessError):
        command_outputs.fill_page(page, tmp_path)
    assert "\nold\n" in page.read_text()


def test_every_output_of_the_documents_belongs_to_an_example(command_outputs):
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        blocks = list(command_outputs._BLOCK.finditer(text))
        assert len(blocks) == text.count("<!-- output -->") == text.count("<!-- end of output -->"), page.name
        assert all(re.search(r"```text\n[^`]+```", block[0]) for block in blocks), page.name
