"""Wants: the kinds of answer that a question asks for, and what a text that has one looks like."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Want:
    """A kind of answer.

    `asked` is found in questions that want it and `looks` in texts that have it; `counts` is how much more such
    a text is worth. Where it is `needed`, no answer will do without it; `needed_alone` says that of a question
    that wants nothing else.
    """

    name: str
    asked: re.Pattern[str]
    looks: re.Pattern[str]
    counts: float = 0.0
    needed: bool = False
    needed_alone: bool = False


def _any(*these: str) -> str:
    return "|".join(these)


SUMMARY = Want(
    "summary",
    re.compile(
        r"\bwhat(?:'?s| is| are| does| do| kind| sort| type)\b|\b(?:tell|explain|describe|introduce)\b"
        r"|\bpurpose of\b|\bwhy\b.*\buse\b|\bwhen\b.*\buse\b",
        re.I,
    ),
    re.compile(r"^\S+: summary\b", re.M),
    counts=1.0,
    needed=True,
)
"""What a package is, as a whole: wanted where nothing but its name is said."""

WANTS = (
    Want(
        "default",
        re.compile(
            _any(
                r"\bdefaults?\b",
                r"out of the box",
                r"\bif i (?:do ?n.?t|leave|omit|never)",
                r"\bunless i\b",
                r"without (?:passing|setting)",
            ),
            re.I,
        ),
        re.compile(
            r"default|\bomitted\b|\bif (?:not|none)\b"
            r"|[(,:] ?\*{0,2}\w+(?:: (?:(?!\.\s|\.\.)[^=\n]){1,60})? = |\bunless\b",
            re.I,
        ),
        counts=0.08,
        needed_alone=True,
    ),
    Want(
        "installation",
        re.compile(
            r"\bhow (?:do|can|to|would|should|is|does)\b.*\binstall\b"
            r"|\binstall(?:ation)? (?:command|instructions?)\b",
            re.I,
        ),
        re.compile(
            r"\b(?:pip3?|uv|pipx|conda|poetry|pdm|apt(?:-get)?|brew|dnf)\b[\w -]* (?:install|add)\b"
            r"|\buv add\b|-install\b|\binstall-"
        ),
        counts=0.3,
        needed=True,
    ),
    Want(
        "exception",
        re.compile(r"\b(?:rais|throw|thrown|exception|catch|error|blow|crash|complain|fail)\w*", re.I),
        re.compile(r"\b[Rr]ais\w+|\w+(?:Error|Exception|Warning|NotFound|Exceeded)\b"),
        counts=0.12,
    ),
    Want(
        "result",
        re.compile(r"\b(?:returns?|yields?)\b|\b(?:gives?|gets?|hands?)(?: \w+)? back\b", re.I),
        re.compile(r"\b(?:returns?|yields?)\b", re.I),
        counts=0.05,
    ),
    Want(
        "number",
        re.compile(
            _any(
                r"\bhow (?:many|much|long|often|big|large|small|deep|wide|fast|far|old)\b",
                r"\b(?:size|number|limit|port|maximum|minimum)\b",
            ),
            re.I,
        ),
        re.compile(r"\d|\b(?:one|two|three|four|five|ten|zero|once|twice|None|inf|unlimited)\b"),
        counts=0.05,
    ),
    Want(
        "absence",
        re.compile(
            r"n't\b|\b(?:not|no|missing|without|absent|unknown|nothing|none|gone|lacks?)\b",
            re.I,
        ),
        re.compile(
            _any(
                r"\bnot (?:found|installed|exist|available|present|set|given|in)\b",
                r"\bmissing\b",
                r"\bno \w+",
                r"\bNo[A-Z]|Not[A-Z]",
                r"\babsent\b",
                r"n't exist",
            )
        ),
        counts=0.08,
    ),
    Want(
        "purpose",
        re.compile(
            r"\bwhat(?:'?s| is| are| does| do)\b.*\b(?:for|do|mean|meant|about)\b|\bpurpose of\b|\bpoint of\b",
            re.I,
        ),
        re.compile(r"\A[^\n:]*\n"),  # a passage about the whole thing, not about one of its parts
        counts=0.12,
    ),
    Want(
        "way",
        re.compile(r"\bhow (?:do|can|could|should|would|to)\b|\bis there an? (?:easy |simple )?way\b", re.I),
        re.compile(r"\A[^\n:]*\n"),
        counts=0.06,
    ),
    Want(
        "person",
        re.compile(
            r"\bwho\b.*\b(?:wr[io]t\w+|maintain\w*|author\w*|created?|develop\w*|behind|lead|owns?|invented|made"
            r"|runs|founded|started)\b|\b(?:author|maintainer|creator|founder|inventor)s? of\b",
            re.I,
        ),
        re.compile(r"\b(?:authors?|maintainers?|(?:created|written|maintained|developed) by)\b", re.I),
        needed=True,
    ),
    Want(
        "amount",
        re.compile(r"\bhow (?:many|much|often|long)\b", re.I),
        re.compile(
            r"(?<![\w.])(?<!version )\d|\b(?:one|two|three|four|five|ten|zero|once|twice"
            r"|single|infinite|inf|unlimited|never|always|every"
            r"|each|no limit|at most|until)\b",
            re.I,
        ),
        needed=True,
    ),
    Want(
        "measurement",
        re.compile(
            r"\bhow (?:many|much) (?:(?:milli|micro|nano)?seconds|minutes|time) (?:do|does|will|is|are)\b.*"
            r"\b(?:need|take|spend|require)\w*\b"
            r"|\bhow fast\b|\b(?:faster|slower) than\b|\bbenchmark\w*|\bper second\b|\bthroughput\b|\blatency\b"
            r"|\ba second\b|\bhow much (?:ram|memory|cpu)\b",
            re.I,
        ),
        re.compile(r"\bper second\b|\d ?(?:ms|s|µs|ns|seconds?|times|x|%|[KMG]i?B)\b|\bO\("),
        needed=True,
    ),
    Want(
        "price",
        re.compile(r"\bhow much (?:does|do|is|are)\b.*\b(?:cost|for)\b|\bpric(?:e|es|ing)\b|\bfees?\b", re.I),
        re.compile(r"[$\u20ac\u00a3] ?\d|\d (?:dollars?|euros?|USD|EUR)\b", re.I),
        needed=True,
    ),
    Want(
        "popularity",
        re.compile(
            r"\bmarket share\b|\bpopular(?:ity)?\b|\bstarr?(?:s|ed)\b|\bdownloads? a \w+"
            r"|\bhow many (?:people|users|companies|developers|contributors)\b",
            re.I,
        ),
        re.compile(r"\d (?:million|thousand|users|downloads|stars|companies|contributors)\b", re.I),
        needed=True,
    ),
    Want(
        "date",
        re.compile(
            _any(
                r"\b(?:what|which) (?:date|day|year|month)\b",
                r"\bwhen (?:was|were|did)\b",
                r"\bwhen (?:is|does)\b.*"
                r"\b(?:released?|published|born|launch\w*|come out|came out|ship\w*)\b",
                r"\brelease date\b",
            ),
            re.I,
        ),
        re.compile(r"\b(?:19|20)\d\d\b"),
        needed=True,
    ),
    Want(
        "current state",
        re.compile(r"\bright now\b|\btoday\b|\bthis (?:week|month|year)\b|\bat the moment\b|\bnowadays\b", re.I),
        re.compile(r"(?!)"),  # what is installed was written earlier
        needed=True,
    ),
    Want(
        "future plan",
        re.compile(
            _any(
                r"\bwhen will\b",
                r"\bhow soon\b",
                r"\b(?:which|what) (?:version|release)\b.*\bwill\b",
                r"\bwill\b.*\b(?:next|this) (?:year|month|release|version)\b",
                r"\b(?:are|is) (?:there )?plan(?:s|ned|ning)\b",
                r"\b(?:next|upcoming|future) (?:\w+ )?(?:release|version)",
                r"\broad ?map\b",
                r"\bwill\b.*\bever\b",
            ),
            re.I,
        ),
        re.compile(r"(?!)"),  # what is installed cannot know what comes
        needed=True,
    ),
)
