"""Skills: folders of files that are read when they are needed, and nothing outside of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Kit

import pytest

from flowcore import ContractError
from flowcore.events import ToolDelta
from flowcore.messages import Message
from flowcore_agent import AgentRequest, Issue, OwnTools, SkillCard, SkillFolder, admit, agent_flow
from flowcore_agent.skills.front_matter import read_front_matter

BREW = "---\nname: brew\ndescription: How to brew tea.\nlicense: MIT\n---\n\n# Brewing\n\nBoil the water.\n"


def skill(folder: Path, name: str, text: str) -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "skills"
    skill(made, "brew", BREW)
    (made / "brew" / "sorts").mkdir()
    (made / "brew" / "sorts" / "green.md").write_text("At 80 °C.", "utf-8")
    skill(made, "pour", BREW.replace("brew", "pour"))
    (tmp_path / "secret.md").write_text("secret")
    return made


async def test_a_skill_has_a_card_and_is_read_without_its_front_matter(folder: Path) -> None:
    skills = SkillFolder(folder)
    assert await skills.cards() == [SkillCard("brew", "How to brew tea."), SkillCard("pour", "How to pour tea.")]
    assert await skills.read("brew") == "# Brewing\n\nBoil the water.\n"
    assert await skills.read("brew/SKILL.md") == await skills.read("brew")
    assert await skills.read("brew/sorts/green.md") == "At 80 °C."
    skill(folder, "brew", BREW.replace("Boil", "Heat"))
    assert "Heat the water." in await skills.read("brew")


async def test_nothing_outside_of_a_skill_is_read(folder: Path, tmp_path: Path) -> None:
    (folder / "brew" / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "away").symlink_to(tmp_path)
    skill(tmp_path, "other", BREW.replace("brew", "other"))
    (folder / "other").symlink_to(tmp_path / "other")
    skills = SkillFolder(folder)
    names = ["../secret.md", "brew/../../secret.md", "brew/../pour/SKILL.md", "brew/link.md", str(tmp_path)]
    for name in [
        *names,
        "away",
        "away/secret.md",
        "other",
        "",
        ".",
        "..",
        "none",
        "brew/none",
        "brew//etc/passwd",
        "a\0",
    ]:
        with pytest.raises(LookupError, match="there is no"):
            await skills.read(name)


async def test_a_skill_that_cannot_be_read_has_a_card_that_says_why(folder: Path, tmp_path: Path) -> None:
    skill(folder, "bare", "# Bare\n")
    skill(folder, "bytes", "").write_bytes(b"\xff")
    skill(folder, "large", BREW + "x" * 300)
    skill(folder, "mute", "---\nname: mute\n---\nText.")
    skill(folder, "named", BREW)
    skill(folder, "open", "---\nname: open\n")
    skill(folder, "odd name", BREW)
    (folder / "empty").mkdir()
    (folder / "file.md").write_text("no skill")
    skills = SkillFolder(folder, largest=200)
    assert {card.name: card.fault for card in await skills.cards()} == {
        "bare": "it does not begin with front matter, between two lines of ---",
        "brew": "",
        "bytes": "file 'SKILL.md' is no text in UTF-8",
        "large": f"file 'SKILL.md' has {len(BREW) + 300} bytes, and 200 is the most",
        "mute": "its front matter has no description",
        "named": "its front matter has the name 'brew', its folder 'named'",
        "odd name": "there is no skill 'odd name'",
        "open": "it does not begin with front matter, between two lines of ---",
        "pour": "",
    }
    with pytest.raises(ContractError, match="there is no such folder"):
        SkillFolder(tmp_path / "none")


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ("description: Plain: with a colon.", "Plain: with a colon."),
        ('description: "Quoted \\"well\\"."', 'Quoted "well".'),
        ("description: 'It''s quoted.'", "It's quoted."),
        ("description: >\n  Folded\n  lines.", "Folded lines."),
        ("description: |-\n  Kept\n  lines.", "Kept lines."),
        ("description: First\n  and second.", "First and second."),
        ("description:\n  On the next line.", "On the next line."),
        ("metadata:\n  description: Not this.\ndescription: This.", "This."),
        ("# a comment\n\ndescription: This.", "This."),
        ("description:", ""),
    ],
)
def test_the_front_matter_in_the_ways_in_which_it_is_written(head: str, description: str) -> None:
    for text in (f"---\n{head}\nname: x\n---\nText.", f"---\n{head}\nname: x\n---\nText.".replace("\n", "\r\n")):
        entries, rest = read_front_matter(text)
        assert (entries["description"], entries["name"], rest) == (description, "x", "Text.")


@pytest.mark.behaviour("S3-15")
async def test_a_skill_that_cannot_be_loaded_is_listed_and_the_run_goes_on(kit: Kit, folder: Path) -> None:
    skill(folder, "bare", "# Bare\n")
    desk = kit.Desk(["Fine."], spec={"skills": SkillFolder(folder)})
    result = await desk.ask(skills=("brew", "bare", "none", "../secret.md"))
    assert result.value.text == "Fine."
    assert result.value.issues == (
        Issue("skills", "bare", "ValueError: it does not begin with front matter, between two lines of ---"),
        Issue("skills", "none", "LookupError: there is no skill 'none'"),
        Issue("skills", "../secret.md", "LookupError: there is no skill '..'"),
    )
    system, _, asked, told = desk.requests[0].messages
    assert "- bare: cannot be read: it does not begin with front matter" in system.content
    assert "- brew: How to brew tea." in system.content
    assert "read_skill" not in system.content
    assert (asked.tool_calls[0].name, asked.tool_calls[0].arguments) == ("read_skill", '{"name": "brew"}')
    assert told.content == "# Brewing\n\nBoil the water.\n"


@pytest.mark.behaviour("S4-06")
async def test_the_model_reads_a_skill_and_an_event_tells_which(kit: Kit, folder: Path) -> None:
    wanted = (
        kit.call("read_skill", '{"name": "brew/sorts/green.md"}'),
        kit.call("read_skill", '{"name": "tea"}', "b"),
    )
    spec = {"skills": SkillFolder(folder), "own_tools": OwnTools(skills=True)}
    desk = kit.Desk([kit.calls(*wanted), "Fine."], spec=spec)
    request = AgentRequest((Message("user", "Tea?"),))
    async with agent_flow(desk.agent).start(admit(desk.agent, request)) as run:
        told = [event.data async for event in run.events() if isinstance(event, ToolDelta)]
        reply = (await run.wait()).value
    assert kit.results(reply) == ["At 80 °C.", "It failed: LookupError: there is no skill 'tea'"]
    assert told == [{"skill": "brew/sorts/green.md"}]
    assert "Read the one that fits, with `read_skill`, before you begin." in desk.requests[0].messages[0].content
