"""Lexicon: what says little in a question about programs, and what people say in other words than texts do."""

from __future__ import annotations

import re

EMPTY = frozenset(
    """
    a about above actually again all alone also although am an and another any anybody anyone anything
    are aren arent as at away back be because been behave behaves behavior behaviour being below best
    between bit bother but by call called calls came can cannot cant care cause choose chooses choosing
    chosen come comes coming could couldn d define described did didn didnt do doc docs documentation
    documented does doesn doesnt doing don done dont easily else etc even ever everything exactly
    explain few for from get gets getting give given gives go goes going gonna good got had happen
    happened happens has hasn have haven having he hello help her here hey hi him his how however hows i
    if im in into is isn isnt it its itself ive just kind know let lets lib library like ll look
    looking lot m made make makes making many may maybe me mean means mention mentioned might mine
    module more most much must my myself named need needed needs nor normally not nothing now of off
    often oh ok okay on one ones onto or other others ought our ours own package per pick picked picks
    please possible properly purpose put python quickly quite rather re readme really right s said say
    says see seem seems shall she should shouldn show simply since slightly so some somebody somehow
    someone something sort still such suppose sure t take takes tell tells than thank thanks that thats
    the their theirs them themselves then there these they things this those though through thus to
    together told too tool touch touched tried tries try trying two under until up upon us use used uses
    using usually ve very via want wanted wants was wasn wasnt way ways we well were weren what whatever
    whats when whenever where wheres whether which while who whole whom whos whose why will with within
    without won wont work works would wouldn yet you your yours yourself
    """.split()
)
"""Words that tell nothing of what is asked about."""

FAINT = frozenset(
    """
    after already always answer arg args argument arguments before both class classes code default
    defaults each error errors every example exception exceptions first function functions instead
    keyword leave left long method methods name never none once only option options out over param
    parameter parameters params program question raise raised raises same setting settings thing throw
    thrown throws time times type types user users value values
    """.split()
)
"""Words that nearly every text of a program has: they tell something, but little."""

PHRASES = tuple(
    (re.compile(rf"\b(?:{said})\b", re.I), f" {meant} ")
    for said, meant in (
        (r"g[ia]ves? up|giving up|run(?:s|ning)? too long|takes? too long", "timeout"),
        (r"(?:turn|switch|shut)(?:s|ed|ing)? (?:it |them |that |this )?off|get(?:ting)? rid of", "disable"),
        (r"(?:turn|switch)(?:es|s|ed|ing)? (?:it |them |that |this )?on", "enable"),
        (r"bl[eo]ws? up|go(?:es)? wrong|falls? over", "error"),
        (r"in front of|at the (?:front|start|beginning) of", "prepend"),
        (r"at (?:once|the same time)|side by side|in parallel", "concurrent"),
        (r"looks? (?:for|up)", "search"),
        (r"(?:com|cam)(?:es?|ing) from", "source"),
        (r"(?:gives?|gets?|hands?)(?: me| you)? back", "returns"),
        (r"by hand", "manual"),
        (r"how (?:large|big)", "size"),
        (r"(?:many|several|multiple|more|any number of) times|more than once|repeatedly", "multiple"),
        (r"go(?:es)? on|carr(?:y|ies) on", "move on continue"),
        (r"\d+ ?(?:s|secs?|seconds?|mins?|minutes?)", "seconds timeout"),
        (r"on the fly", "dynamic"),
        (r"(?:do|does|did) ?n.?[o']?t know|not (?:declared|defined|listed)|never heard of", "unknown extra"),
        (r"as long as", "while"),
        (r"[45]\d\d", "status code error"),
        (r"key[ -]value", "metadata key value"),
        (r"double[- ]click(?:s|ed|ing)?", "doubleclick"),
    )
)
"""What people say in several words, and the word that a text would have."""
