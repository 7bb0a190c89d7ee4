"""A result as a fragment of HTML, without script, style or link."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import Environment, StrictUndefined

from flowcore_presentation.page import page_of
from flowcore_presentation.result import PresentableResult
from flowcore_presentation.words import Words

__all__ = ["to_html"]

_TEMPLATE = Environment(
    autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
).from_string(
    """\
<section class="answers">
{% for part in page.parts %}
  <article data-status="{{ part.status }}">
  {% if part.question %}
    <h3>{{ part.question }}</h3>
  {% endif %}
    <h4>{{ part.label }}</h4>
  {% if part.lines %}
    <p>
    {%- for line in part.lines -%}
      {{ line }}{% if not loop.last %}<br>{% endif %}
    {%- endfor -%}
    {%- for number in part.numbers %} <sup>[{{ number }}]</sup>{% endfor %}</p>
  {% endif %}
  </article>
{% endfor %}
{% if page.sources %}
  <h4>{{ page.sources_label }}</h4>
  <ol>
  {% for source in page.sources %}
    <li value="{{ source.number }}">{{ source.name }}</li>
  {% endfor %}
  </ol>
{% endif %}
</section>"""
)


def to_html(
    result: PresentableResult, *, questions: Mapping[str, str] | None = None, words: Words | None = None
) -> str:
    """Return a result as an HTML fragment, with `questions` (by item id) as headings.

    Everything is escaped. Each article carries its status as `data-status`, for the page's own style.
    Raises ValueError for an unknown status.
    """
    return _TEMPLATE.render(page=page_of(result, questions or {}, words or Words()))
