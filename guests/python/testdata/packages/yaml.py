import yaml

text = """
name: report
base: &base {size: 3, tags: [a, b]}
copy: {<<: *base, size: 4}
when: 2024-03-05
text: |
  two
  lines
folded: >-
  one
  line
numbers: [1, 0x1f, 1.5e3, yes, null]
"""
data = yaml.safe_load(text)
data["when"] = str(data["when"])
try:
    yaml.safe_load("!!python/object/apply:os.system [ls]")
    unsafe = "it ran"
except yaml.YAMLError as e:
    unsafe = type(e).__name__
try:
    yaml.safe_load("a: [1, 2\nb: 3")
    wrong = None
except yaml.YAMLError as e:
    wrong = [e.problem_mark.line, e.problem_mark.column]
[data, yaml.safe_dump(data, sort_keys=True, allow_unicode=True), list(yaml.safe_load_all("---\na: 1\n---\nb: 2\n")), unsafe, wrong]
