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

# every table of the suite: the frozen sets rendered, the shipped model scored on them and on real frames; several rooms in one pair of quotes
figures mocap motions pack rooms labels empty:
    posepipe evaluate --suite .work/suite --mocap {{mocap}} --motions {{motions}} --pack {{pack}} \
        --rooms {{rooms}} --labels {{labels}} --empty {{empty}} \
        --fill README.md docs/evaluation/accuracy.md docs/evaluation/accuracy-by-set.md docs/guides/tracking.md models/person.md --card --figure docs/images/accuracy.png

# Give the CMU poses as a pose bank or captures, a folder with a folder of empty rooms for each place, and a bank or catalogue of
# furniture. part=10 makes it on a tenth of the frames.
# a successor of the model `person`, from nothing to its file; what is made already is kept
person mocap backgrounds furniture part="1" work=".work/person":
    #!/usr/bin/env bash
    set -euo pipefail
    mocap=$(realpath "{{mocap}}") furniture=$(realpath "{{furniture}}") backgrounds=$(realpath "{{backgrounds}}")
    mkdir -p "{{work}}" && cd "{{work}}"
    render() { posepipe synth "$1" --recipe "$2" --frames $(($3 / {{part}})) --seed "$4" --mocap "$mocap" "${@:5}"; }
    render joints person-joints 48000 2027
    render more-joints person-joints 48000 2028
    render joints-3 person-joints 48000 2033
    render joints-4 person-joints 48000 2034
    render kinect person 133000 2026
    render d435 person 12000 2029 --sensor d435
    composite() {  # NAME FRAMES SEED: people in the rooms of every place, whose datasets are NAME-PLACE, listed in `made`
        local place seed=$3
        made=()
        for place in "$backgrounds"/*/; do
            made+=("$1-$(basename "$place")")
            render "${made[-1]}" person-backgrounds "$2" "$seed" --backgrounds "$place"*
            seed=$((seed + 1))
        done
    }
    composite composites 1000 2040
    rooms=("${made[@]}" rooms rooms-d435)
    render rooms person-rooms 9000 2031 --furniture "$furniture"
    render rooms-d435 person-rooms 2000 2032 --sensor d435 --furniture "$furniture"
    render rooms-2 person-rooms 9000 2037 --furniture "$furniture"
    render lying person-lying 4000 2036 --furniture "$furniture"
    train() { [ -s "$1" ] || posepipe train "${@:2}" --out "$1"; }
    train trees.npz kinect d435 --joints joints --joint-frames 3000 --joints-from parts --trees 3 --pixels 220 --max-depth 22 --candidates 300 --resume
    train segmented.npz "${rooms[@]}" --forest trees.npz --only segmentation
    train weighed.npz "${rooms[@]}" --forest segmented.npz --only background
    train placed.npz joints more-joints --forest weighed.npz --only joints --joints-from parts --joint-frames 96000
    train twice.npz joints-3 joints-4 --forest placed.npz --only second-pass --joint-frames 96000
    composite more 1000 2070
    train filtered.npz "${rooms[@]}" rooms-2 lying "${made[@]}" --forest twice.npz --only filter --resume
    render turned person-turned 8000 2035
    train viewed.npz turned rooms rooms-d435 --forest filtered.npz --only views
    posepipe convert viewed.npz judged.npz --person-probability 0.65
    render rooms-3 person-rooms 12000 2038 --furniture "$furniture"
    render lying-2 person-lying 4000 2039 --furniture "$furniture"
    composite again 500 2050
    train regions.npz rooms-3 lying-2 "${made[@]}" --forest judged.npz --only regions
    render near person-near 160000 2042
    render turned-2 person-turned 24000 2043
    train facing.npz near turned-2 --forest regions.npz --only facing
    posepipe convert facing.npz person.npz

# a smaller model after `just person`, from its datasets: its first tree, pruned, and joints from the surface alone
person-fast work=".work/person":
    #!/usr/bin/env bash
    set -euo pipefail
    cd "{{work}}"
    train() { [ -s "$1" ] || posepipe train "${@:2}" --out "$1"; }
    [ -s first-tree.npz ] || posepipe convert weighed.npz first-tree.npz --trees 1 --prune 0.5 --prune-by joints
    train fast-trees.npz joints --forest first-tree.npz --only joints --joints-from parts --joint-frames 24000
    train fast-filtered.npz composites-* rooms rooms-d435 --forest fast-trees.npz --only filter --resume
    posepipe convert fast-filtered.npz person-fast.npz

# a model for cameras that look straight down, in the same way, from recipes of its own
ceiling mocap furniture part="1" work=".work/ceiling":
    #!/usr/bin/env bash
    set -euo pipefail
    mocap=$(realpath "{{mocap}}") furniture=$(realpath "{{furniture}}")
    mkdir -p "{{work}}" && cd "{{work}}"
    render() { posepipe synth "$1" --recipe "$2" --frames $(($3 / {{part}})) --seed "$4" --mocap "$mocap" "${@:5}"; }
    render joints ceiling 6000 2063
    render people ceiling 24000 2061
    render again ceiling 24000 2064
    render rooms ceiling-rooms 3000 2062 --furniture "$furniture"
    train() { [ -s "$1" ] || posepipe train "${@:2}" --out "$1"; }
    train trees.npz people --joints joints --share-frames --pixels 100 --candidates 200 --resume
    train segmented.npz rooms --forest trees.npz --only segmentation
    train twice.npz again --forest segmented.npz --only second-pass --joint-frames 24000
    train filtered.npz rooms --forest twice.npz --only filter --resume
    posepipe convert filtered.npz ceiling.npz
