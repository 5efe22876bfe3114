# One command for each thing that a developer does.

# lint, spelling, types and tests, as the continuous integration runs them
check:
    ruff check .
    ruff format --check .
    codespell
    mypy
    bandit --quiet --configfile pyproject.toml --recursive posepipe synth apps
    bash .ci/audit
    pytest

# the same checks without tests, before every commit
hooks:
    pre-commit install

# the quick tests; add arguments for pytest
test *arguments:
    pytest {{arguments}}

# tests that take minutes: big renders, fuzz, kills; and property tests on many more examples
test-slow:
    pytest -m slow
    HYPOTHESIS_PROFILE=thorough pytest

# mutated files of every kind that posepipe reads, for some minutes; failures are saved in .fuzz
fuzz minutes="5" *arguments:
    python -m tests.robustness.fuzz --minutes {{minutes}} {{arguments}}

# share of the statements in kernels that tests reach; the kernels are interpreted, which takes minutes
coverage:
    python -m tests.kernels.interpreted

# benchmarks, each beside a stated baseline
bench:
    pytest benchmarks -n 0 -m "" --benchmark-enable --benchmark-only --benchmark-columns=median,iqr,rounds

# every command, example and notebook of the documents run; their site built into .site, strictly, and its links checked
docs:
    pytest tests/docs
    pytest -n 0 -m slow tests/docs/test_site.py
    NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict --quiet

# every figure of the documents: the frozen sets rendered, the shipped model scored, tables and picture filled
figures mocap motions pack:
    posepipe evaluate --suite .work/suite --mocap {{mocap}} --motions {{motions}} --pack {{pack}} \
        --fill README.md docs/evaluation/accuracy.md docs/guides/tracking.md models/person.md --card --figure docs/images/accuracy.png
