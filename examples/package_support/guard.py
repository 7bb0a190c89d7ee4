"""Guard: which questions are refused before anything is looked up, and why.

Words in a question are data. Orders about how to answer are not obeyed, and a question that comes with them is not
answered at all, since nobody can tell what of it is still meant.
"""

from __future__ import annotations

import re

_LONGEST = 2_000


def _any(*these: str) -> re.Pattern[str]:
    return re.compile("|".join(these), re.I | re.M)


_RULES = (
    r"(?:sources?|instructions?|rules?|prompts?|guidelines?|evidence|texts?|checks?|context|guard|safety"
    r"|restrictions?|retrieval|search)(?! (?:param|arg|option|field|key|attribute|setting|header|flag))"
)
_ORDERS = _any(
    rf"\b(?:ignore|disregard|forget|override|bypass|drop|skip)\b[^.?!]{{0,30}}"
    rf"\b(?:your|all|any|previous|prior|above|earlier|the)\b[^.?!]{{0,25}}\b{_RULES}\b",
    rf"\b(?:ignore|disregard|forget|override|bypass|skip) (?:your )?{_RULES}\b",
    r"^\W*(?:system|assistant|developer|admin|root|user)\b\s*(?:prompt|message|note|override)?\W*:",
    r"\b(?:system|assistant)\s*:|<\s*/\s*\w+\s*>|<\s*(?:system|assistant|instructions?)\s*>",
    r"\[/?(?:INST|SYSTEM)\]|\bim_(?:start|end)\b",
    r"\bfrom now on\b|\byou are (?:now|no longer)\b|\bpretend\b|\bact as\b|\brole ?play\b|\bnew instructions?\b",
    r"\bthe user is (?:an? )?(?:admin|root|developer|owner)\b|\brepeat after me\b",
    r"\b(?:answer|reply|respond|say)\b[^.?!]{0,30}"
    r"\b(?:from memory|even if|regardless|no matter|without (?:sources?|citations?|citing|evidence|looking))\b",
    r"\b(?:just|and|only|simply|always) (?:say|answer|reply|respond|output|print)\b\s*(?:with\s*)?"
    r"[\"'\u201c]?(?:yes|no|ok|true|approved|hello|pwned)\b",
    r"\b(?:say|answer|reply|respond|output)\b(?: only)?(?: with)?:?\s*[\"'\u201c]\w+[\"'\u201d]",
    r"\b(?:answer|reply|respond|output) only\b",
    r"\b(?:reveal|show|print|repeat|output)\b[^.?!]{0,20}"
    r"\b(?:your (?:system )?(?:prompt|instructions)|the system prompt)\b",
    r"\b(?:jailbreak|developer mode|dan mode|prompt injection)\b",
    r"\bcite \w+ for (?:everything|all)\b|\bstate as (?:a )?fact\b|\bmake (?:it|something|one) up\b",
)

_SECRET = (
    r"(?:passwords?|passphrase|api[ _-]?keys?|secrets?|tokens?|credentials?|(?:private|ssh) keys?"
    r"|(?-i:[A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|URL)))"
)
_HERE = (
    r"(?:on|of|from|in) (?:this|my|the|your|our|his|her|their) "
    r"(?:machine|computer|laptop|server|box|host|system|disk|home|shell|environment|env|user|pc|account|company"
    r"|network)"
)
_TELL = (
    r"(?:what(?:'?s| is| are)|show|print|read|give|tell|list|dump|send|echo|find|leak|which|who|where|how many)"
)
_OWNED = (
    r"(?:e-?mail|address|phone|ip|salary|history|home (?:dir\w*|folder)|user ?name|calendar|files?|folders?"
    r"|director(?:y|ies)|desktop|documents|downloads|inbox|drive|browser)"
)
_PRIVATE = _any(
    rf"\b(?:value|contents?)\b.{{0,40}}\b{_SECRET}\b.{{0,40}}(?:{_HERE}|\bhere\b|\bset to\b|\bright now\b)",
    rf"\b{_TELL}\b.{{0,40}}\b(?:my|our|his|her|their|the user'?s)\s+(?:\w+\s+){{0,2}}{_SECRET}\b",
    rf"\b{_SECRET}\b.{{0,60}}{_HERE}",
    rf"(?:^|[.?!]\s+)(?:please )?(?:show|print|read|give|tell|send|dump|reveal)\b(?: me)?.{{0,20}}\b{_SECRET}",
    rf"\b{_TELL}\b.{{0,60}}{_HERE}",
    r"\b(?:contents?|value) of (?:my|our|this|the user'?s?) ",
    r"/etc/(?:passwd|shadow)|~/|\.ssh\b|\bid_rsa\b|\bwho am i\b|\bip address\b",
    rf"\b(?:my|his|her|our|their) (?:\w+ )?{_OWNED}\b",
    r"\b(?:e-?mail address|phone number|home address|salary) of\b",
    r"\b(?:os\.environ|env(?:iron(?:ment)?)? var(?:iable)?s?)\b.{0,40}\b(?:here|right now|currently|on this)\b",
    rf"\b[A-Z]+(?:_[A-Z]+)*\b (?:env\w* )?variable.{{0,20}}\b(?:right now|currently|{_HERE})",
)

_ATTACK = _any(
    r"\b(?:d?dos|ddos\w*|malware|ransomware|keylogg\w+|botnet|spyware|rootkit|phish\w*|credential stuffing|trojan"
    r"|worm|virus|brute.?forc\w+)\b",
    r"\bsql injection attack\b|\bzero.?day\b",
)
_HARM = _any(
    r"\b(?:attack|flood|overload|crash|hack|crack|steal|stolen|exfiltrate|spam|hijack|sabotage|spy|stalk|track"
    r"|break into|take down|bring down|knock|bypass|get (?:past|around)|evade|scrape|impersonate|guess|sniff"
    r"|intercept|harass|forge|fake|wipe|destroy|delete|leak|exploit)\w*\b",
    r"\b(?:sql|code|script|template) injections?\b",
)
_VICTIM = _any(
    r"\b(?:competitor|neighbou?r|ex|girlfriend|boyfriend|wife|husband|victim|enemy|rival|bank|colleague|coworker|boss"
    r"|stranger)(?:'?s)?\b",
    r"\b(?:someone|somebody|people|user|customer|compan(?:y|ies)|school|government|teacher|employer)s?'s?\b",
    r"\bother people\b|\bwithout (?:them|him|her|anyone|permission|consent|their|paying)\b|\bundetected\b",
    r"\b(?:paywall|captcha|antivirus|login page|bot detection)\b|\buntil it (?:goes down|crashes|dies)\b",
)


def refusal(text: str) -> str:
    """Why a whole question is refused, or nothing."""
    if len(text) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters; ask one thing at a time"
    if _ORDERS.search(text):
        return "it gives orders about how to answer; words in a question are data and are not obeyed"
    if _ATTACK.search(text) or (_HARM.search(text) and _VICTIM.search(text)):
        return "it asks for help to do harm"
    if _PRIVATE.search(text):
        return "it asks about private data; only the texts of installed packages are read"
    return ""
