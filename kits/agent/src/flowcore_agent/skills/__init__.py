"""Skills: texts that say how something is done, in folders of files by default."""

from __future__ import annotations

from flowcore_agent.skills.folder import SkillFolder

__all__ = ["SkillFolder"]
