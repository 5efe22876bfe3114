"""Build a bank of furniture (`synth.furniture.model_bank`) from catalogues of Sweet Home 3D.

``python -m synth.tools.build_furniture SH3F... --out FILE`` reads `.sh3f` files, or folders of them. Debian's package
`sweethome3d-furniture` has five. ``--only-cc0`` takes only models that are dedicated to the public domain; the bank of
the project is built so.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from posepipe.errors import PosepipeError
from synth.furniture.catalogues.build_bank import MAX_TRIANGLES, MIN_TRIANGLES, build_bank
from synth.furniture.model_bank import write_bank


def main(arguments: list[str] | None = None) -> None:
    """Build a bank from the command line."""
    parser = argparse.ArgumentParser(description="Build a bank of furniture from catalogues of Sweet Home 3D.")
    parser.add_argument("catalogues", type=Path, nargs="+", metavar="SH3F", help="catalogues, or folders of them")
    parser.add_argument("--out", type=Path, required=True, help="file to write (.npz)")
    parser.add_argument("--only-cc0", action="store_true", help="only models that are dedicated to the public domain")
    parser.add_argument(
        "--triangles",
        type=int,
        nargs=2,
        default=(MIN_TRIANGLES, MAX_TRIANGLES),
        metavar=("MIN", "MAX"),
        help="of the smallest and the largest models (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    low, high = options.triangles
    if not 4 <= low <= high:
        parser.error(f"--triangles: wanted two numbers from 4 up, the min first, got {low} {high}")
    try:
        bank = build_bank(options.catalogues, options.only_cc0, (low, high), on_model=print)
        write_bank(bank, options.out)
    except (PosepipeError, ValueError) as error:
        sys.exit(f"synth.tools.build_furniture: error: {error}")
    kinds = Counter(each.kind for each in bank.models)
    print("; ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    triangles = sum(len(each.triangles) for each in bank.models)
    size = options.out.stat().st_size / 1e6
    print(f"{options.out}: {size:.2f} MB, {len(bank.models)} models of {len(kinds)} kinds, {triangles} triangles")


if __name__ == "__main__":
    main()
