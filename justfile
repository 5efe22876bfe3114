# One command for each thing that a developer does.

# lint, types and tests, as the continuous integration runs them
check:
    ruff check .
    ruff format --check .
    mypy
    pytest

# the quick tests; add arguments for pytest
test *arguments:
    pytest {{arguments}}

# tests that take minutes: big renders, fuzz, kills
test-slow:
    pytest -m slow

# kernels under coverage, which needs them interpreted
coverage:
    NUMBA_DISABLE_JIT=1 coverage run -m pytest tests/learn tests/synth -x
    coverage report --include "posepipe/*,synth/*"

# benchmarks, each beside a stated baseline
bench:
    pytest benchmarks -m "" --benchmark-enable --benchmark-only --benchmark-columns=median,iqr,rounds

# every command in the docs, run
docs:
    pytest tests/test_docs.py

# forget compiled kernels: Numba does not see a change in a helper of another file
clean:
    find . -name "*.nbi" -o -name "*.nbc" | xargs rm -f
