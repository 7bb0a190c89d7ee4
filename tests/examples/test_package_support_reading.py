"""Package support reads texts: markup taken away, docstrings found without importing, distributions harvested."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from examples.package_support.distributions import NothingInstalled, fingerprint, installed
from examples.package_support.docstrings import Documented, documented
from examples.package_support.harvest import harvest
from examples.package_support.markup import clean
from examples.package_support.progress import shown
from examples.package_support.prose import Block, blocks
from tests.examples.package_support_site import add, furnish


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (":class:`~httpx.Client` and ``verify``", "httpx.Client and verify"),
        ("a [link](https://x.example) ![badge](y.png) **bold**", "a link bold"),
        ("`text <https://x.example>`_ &amp; <br> more", "text & more"),
        ("see |settings.deadline|::", "see settings.deadline:"),
        ("2**16 stays, a * b * c too", "2**16 stays, a * b * c too"),
        ("two\n   lines", "two lines"),
    ],
)
def test_markup_is_taken_away(written: str, words: str) -> None:
    assert clean(written) == words


GOOGLE = """
    Open a door.

    Args:
        key (str): which key
            to turn
        *rest: what else

    Raises:
        Locked: if it is locked
"""
NUMPY = """
    Open a door.

    Parameters
    ----------
    key : str
        which key
        to turn
    *rest
        what else

    Raises
    ------
    Locked
        if it is locked
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY])
def test_entries_of_both_styles_are_named(doc: str) -> None:
    assert [(block.name, block.text) for block in blocks(doc)] == [
        ("", "Open a door."),
        ("key", "(str) which key to turn"),
        ("rest", "what else"),
        ("Locked", "if it is locked"),
    ]


def test_fields_and_directives_of_rest() -> None:
    doc = """
    Open it.

    :param int size=5: how large
       it is
    :raises Locked: if it is locked

    .. versionadded:: 2.0
    .. note:: Mind the step.
    .. attribute:: hinge

       Where it turns.
    .. code-block:: python

       open()
    .. _target:
    """
    assert blocks(doc)[1:] == [
        Block("(default 5) how large it is", "param", "size"),
        Block("if it is locked", "raises", "Locked"),
        Block("Added in version 2.0"),
        Block("Mind the step."),
        Block("Where it turns.", "", "hinge"),
        Block("open()", code=True),
    ]


def test_markdown_with_its_headings_lists_tables_and_code() -> None:
    lists = "# Title\nIntro.\n\n## Use\n- one\n- two\n  more\n"
    doc = f"{lists}\n### Deep\n```sh\nrun\n```\n| A | B |\n|---|---|\n| x | y |\n---\n"
    assert blocks(doc) == [
        Block("Intro.", "Title"),
        Block("one", "Use"),
        Block("two more", "Use"),
        Block("run", "Use \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Deep", code=True),
        Block("B: y", "Use \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} Deep", "x"),
    ]


@pytest.mark.parametrize(
    "doc",
    [
        "",
        "\n\n",
        "-----",
        "```",
        "```\nnever closed",
        "Args:",
        "|",
        "| |",
        ".. ",
        ":param",
        "a\n==",
        ">>>",
        "  \n\t",
        "#",
        "\0",
    ],
)
def test_odd_texts_are_read_to_their_end(doc: str) -> None:
    assert all(isinstance(block, Block) for block in blocks(doc))


def test_documented_things_are_found_outermost_first() -> None:
    source = '''
"""Top."""
import gone_forever
if gone_forever:
    def early(): "Early."
class Box(Base):
    "A box."
    size: int = 3
    """Its size."""
    def __init__(self, depth: Annotated[int, Doc("How deep.")] = Field(7), *, lid=None): ...
    @property
    def full(self): "Whether it is full."
    def _inner(self): "Hidden."
    class _Hidden: "Hidden."
def plain(): pass
'''
    found = list(documented(source, "m"))
    assert [(one.name, one.kind, one.doc) for one in found] == [
        ("m", "module", "Top."),
        ("m.early", "function", "Early."),
        ("m.Box", "class", "A box."),
        ("m.Box.size", "attribute", "Its size."),
        ("m.Box.full", "attribute", "Whether it is full."),
    ]
    assert found[2] == Documented(
        "m.Box",
        "class",
        "A box.",
        {"depth": "depth: int = 7", "lid": "lid = None"},
        {"depth": "How deep."},
    )


def test_distributions_are_read_once_each_and_without_tests(tmp_path: Path) -> None:
    site = furnish(tmp_path / "site")
    add(tmp_path / "older", "kettle", "1.0", {})
    (site / "broken-1.dist-info").mkdir()
    kettle, lamp = installed([str(site), str(tmp_path / "older")])
    assert (kettle.name, kettle.version) == ("kettle", "2.0")
    assert (lamp.name, lamp.files, lamp.imports) == ("lampworks", ["lampworks/__init__.py"], ("lampworks",))
    assert lamp.needs == {"wickmaker"}


def test_the_fingerprint_changes_with_what_is_installed(tmp_path: Path) -> None:
    site = furnish(tmp_path / "site")
    before = fingerprint(installed([str(site)]))
    assert fingerprint(installed([str(site)])) == before
    add(site, "toaster", "1.0", {})
    assert fingerprint(installed([str(site)])) != before


def test_nothing_installed_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(NothingInstalled, match="no installed Python package"):
        installed([str(tmp_path)])


def test_a_harvest_has_the_description_and_the_docstrings(tmp_path: Path) -> None:
    _, lamp = installed([str(furnish(tmp_path / "site"))])
    passages = {(passage.where, passage.title): passage.text for passage in harvest(lamp)}
    assert passages["Options", "Options: --glow-only"] == (
        "Description: Lights the wick but leaves the shade alone.; Default: off"
    )
    assert passages["lampworks.LEVEL", "lampworks.LEVEL"] == "The level that a new lamp has."
    assert passages["lampworks.Lamp", "Lamp: limit: int = 40"] == "the highest level that is allowed"
    assert passages["lampworks.Lamp.dim", "Lamp.dim"] == ("dim(seconds: float = 2.5)\nTurn the lamp down slowly.")
    assert not any("Never told" in text or "Not read" in text for text in passages.values())


def test_files_that_are_no_python_are_passed_over(tmp_path: Path) -> None:
    files = {"odd/__init__.py": '"""Odd."""', "odd/template.py": "{{ name }} = (", "odd/nul.py": "\0"}
    add(tmp_path, "odd", "1", files)
    (tmp_path / "odd" / "latin.py").write_bytes(b'"""\xff"""')
    (odd,) = installed([str(tmp_path)])
    assert [passage.where for passage in harvest(odd)] == ["odd"]


def test_nothing_is_imported(tmp_path: Path) -> None:
    marker = tmp_path / "imported"
    add(tmp_path, "bomb", "1", {"bomb.py": f'"""Tick."""\nopen({str(marker)!r}, "w")'})
    (bomb,) = installed([str(tmp_path)])
    assert [passage.text for passage in harvest(bomb)] == ["Tick."]
    assert not marker.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    assert list(shown([1, 2], "Reading", terminal)) == list(shown([1, 2], "Reading", file)) == [1, 2]
    assert terminal.getvalue().split("\r") == [
        "",
        "Reading [###############...............] 1/2",
        "Reading [##############################] 2/2\n",
    ]
    assert file.getvalue() == "Reading: 1 of 2\nReading: 2 of 2\n"


def test_signatures_without_words_and_named_defaults_are_read() -> None:
    source = """
DEFAULT_LIMIT = Limit(5)
OTHER = 3

class Pool:
    def __init__(self, size=4): ...

def run(host="::1"): ...
def go(host): ...
"""
    found = [(one.name, one.doc) for one in documented(source, "m")]
    assert found == [("m.DEFAULT_LIMIT", "DEFAULT_LIMIT = Limit(5)"), ("m.Pool", "Pool"), ("m.run", "run")]
