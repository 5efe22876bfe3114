"""The state of the program, as datasets and models name it."""

import posepipe.models.provenance
from posepipe import __version__
from posepipe.models.provenance import source_revision


def checkout(tmp_path, monkeypatch, head):
    package = tmp_path / "posepipe"
    package.mkdir()
    monkeypatch.setattr(posepipe.models.provenance, "__file__", str(package / "models" / "provenance.py"))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    return tmp_path / ".git"


def test_without_a_checkout_it_is_the_version(tmp_path, monkeypatch):
    monkeypatch.setattr(posepipe.models.provenance, "__file__", str(tmp_path / "posepipe" / "models" / "provenance.py"))
    assert source_revision() == __version__


def test_a_branch_is_followed_to_its_commit(tmp_path, monkeypatch):
    git = checkout(tmp_path, monkeypatch, "ref: refs/heads/main\n")
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "main").write_text("0123456789abcdef\n")
    assert source_revision() == f"{__version__} 0123456789ab"


def test_a_packed_branch_is_found(tmp_path, monkeypatch):
    git = checkout(tmp_path, monkeypatch, "ref: refs/heads/main\n")
    (git / "packed-refs").write_text("# pack-refs\nfedcba9876543210 refs/heads/main\n")
    assert source_revision() == f"{__version__} fedcba987654"


def test_a_detached_head_names_its_commit(tmp_path, monkeypatch):
    checkout(tmp_path, monkeypatch, "00112233445566\n")
    assert source_revision() == f"{__version__} 001122334455"


def test_a_branch_without_commits_is_the_version(tmp_path, monkeypatch):
    checkout(tmp_path, monkeypatch, "ref: refs/heads/main\n")
    assert source_revision() == __version__


def test_a_worktree_names_the_commit_of_its_branch(tmp_path, monkeypatch):
    main = checkout(tmp_path, monkeypatch, "ref: refs/heads/main\n")
    (main / "refs" / "heads").mkdir(parents=True)
    (main / "refs" / "heads" / "trial").write_text("89abcdef01234567\n")
    own = main / "worktrees" / "trial"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/trial\n")
    (own / "commondir").write_text("../..\n")
    tree = tmp_path / "trial"
    (tree / "posepipe" / "models").mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {own}\n")
    monkeypatch.setattr(posepipe.models.provenance, "__file__", str(tree / "posepipe" / "models" / "provenance.py"))
    assert source_revision() == f"{__version__} 89abcdef0123"
