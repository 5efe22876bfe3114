"""Notebooks as pages of the site: their cells, and the outputs that they hold."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Add a page for every notebook; the notebook itself stays, to be downloaded."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        assert file.abs_src_path is not None
        notebook = json.loads(Path(file.abs_src_path).read_text("utf-8"))
        content = page_of(notebook, Path(file.src_uri).name)
        files.append(File.generated(config, file.src_uri.removesuffix(".ipynb") + ".md", content=content))
    return files


def page_of(notebook: dict[str, Any], name: str) -> str:
    """Format a notebook as Markdown; ``name`` is its file."""
    cells = [_cell(cell) for cell in notebook["cells"]]
    title, _, rest = cells[0].partition("\n")
    return (
        "\n\n".join([title, f'<a href="{name}" download>Download this notebook</a>', rest.strip(), *cells[1:]]) + "\n"
    )


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    if "text" in output:
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "image/svg+xml" in data:
        drawing = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f"![output](data:image/svg+xml;base64,{drawing})"
    if "image/png" in data:
        return f"![output](data:image/png;base64,{''.join(data['image/png']).strip()})"
    return f"```text\n{''.join(data['text/plain'])}\n```"
