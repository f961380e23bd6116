from jinja2 import DictLoader, Environment, StrictUndefined, Template, UndefinedError
from jinja2.sandbox import SandboxedEnvironment

env = Environment(loader=DictLoader({
    "base": "<h1>{% block title %}{% endblock %}</h1>{% block body %}{% endblock %}",
    "report": """{% extends "base" %}{% block title %}{{ title|e }}{% endblock %}{% block body %}
{%- macro money(x) %}{{ "%.2f"|format(x) }}{% endmacro %}
{%- for region, group in rows|groupby("region") %}
{{ loop.index }}. {{ region|title }}: {{ money(group|sum(attribute="amount")) }} ({{ group|map(attribute="amount")|join(", ") }})
{%- else %}nothing{% endfor %}{% endblock %}""",
}), undefined=StrictUndefined, trim_blocks=True)
rows = [{"region": "north", "amount": 3}, {"region": "south", "amount": 4.5}, {"region": "north", "amount": 1}]
try:
    env.from_string("{{ missing.x }}").render()
    missing = "nothing happened"
except UndefinedError as e:
    missing = str(e)
[
    env.get_template("report").render(title="A & B", rows=rows), missing,
    SandboxedEnvironment().from_string("{{ [1, 2]|length }}").render(), Template("{{ x|tojson }}").render(x={"a": "<"}),
]
