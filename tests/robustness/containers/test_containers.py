"""Mutations inside containers: what is not mutated stays whole."""

from __future__ import annotations

from random import Random

import pytest

from tests.robustness.containers import matroska, mcap, ros1_bag
from tests.robustness.fuzz import missing_extras
from tests.robustness.structured import CONTAINERS
from tests.robustness.targets.registry import TARGETS

KINDS = ("png-folder", "mcap-zstd", "npz-pack", "ros2-database", "ros1-bag-lz4", "azure-mkv", "itop")
"""Targets with a file of each container."""


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Small files of each container: {magic: content}."""
    files = {}
    for name in KINDS:
        if not missing_extras(name):
            contents = TARGETS[name].good_files(tmp_path_factory.mktemp(name)).values()
            files |= {magic: content for content in contents for magic in CONTAINERS if content.startswith(magic)}
    return files


@pytest.mark.parametrize("magic", CONTAINERS, ids=lambda magic: magic[:6].hex())
def test_mutants_differ_and_stay_in_their_container(good, magic):
    if magic not in good:
        pytest.skip("needs an extra")
    mutants = {CONTAINERS[magic](Random(seed), good[magic]) for seed in range(30)}
    assert len(mutants - {good[magic]}) > 15
    inside = sum(mutant.startswith(magic) for mutant in mutants)
    assert inside > 0.8 * len(mutants)


def test_a_bag_comes_back_from_its_records(good):
    content = good[ros1_bag.MAGIC]
    assert ros1_bag.MAGIC + ros1_bag._joined(ros1_bag._split(content[len(ros1_bag.MAGIC) :])) == content


def test_a_matroska_file_comes_back_from_its_elements(good):
    if matroska.MAGIC not in good:
        pytest.skip("needs the extra azure")
    content = good[matroska.MAGIC]
    roots = matroska._parsed(content)
    assert [root.code for root in roots] == [matroska.MAGIC, b"\x18\x53\x80\x67"]
    assert b"".join(root.packed() for root in roots) == content


def test_chunks_are_packed_again(good):
    assert {b"lz4", b"bz2", b"none"} <= {
        name
        for seed in range(60)
        for name in (b"lz4", b"bz2", b"none")
        if b"compression=" + name in ros1_bag.mutate_bag(Random(seed), good[ros1_bag.MAGIC])
    }
    assert {b"zstd", b"lz4"} <= {
        name
        for seed in range(60)
        for name in (b"zstd", b"lz4")
        if name in mcap.mutate_mcap(Random(seed), good[mcap.MAGIC])
    }
