# Reads a function's signature for "mayfly tools add". Runs in the guest. The
# source is parsed only: nothing of it is imported, evaluated or run.
#
# In: source, file, function. Out: {"errors": [...]} with everything that keeps
# the function from being a tool, or what a manifest is made of. Every message
# is [line, column, text].
import ast
import json
import re

BUILTINS = {"int", "float", "str", "bool", "list", "dict", "object", "tuple", "set", "frozenset", "bytes", "bytearray", "complex", "type"}
SCALARS = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
LISTS = {"list", "typing.List", "typing.Sequence", "typing.Iterable", "typing.Collection",
         "collections.abc.Sequence", "collections.abc.Iterable", "collections.abc.Collection",
         "typing.MutableSequence", "collections.abc.MutableSequence"}
MAPS = {"dict", "typing.Dict", "typing.Mapping", "typing.MutableMapping",
        "collections.abc.Mapping", "collections.abc.MutableMapping"}
ANYTHING = {"typing.Any", "object"}
# What people reach for though JSON has no such value, and what to take instead.
INSTEAD = {
    "tuple": "take list[T]", "typing.Tuple": "take list[T]", "set": "take list[T]", "typing.Set": "take list[T]",
    "frozenset": "take list[T]", "typing.FrozenSet": "take list[T]",
    "bytes": "take str, in base64", "bytearray": "take str, in base64", "complex": "take two floats",
    "datetime.datetime": "take str and use datetime.fromisoformat", "datetime.date": "take str and use date.fromisoformat",
    "datetime.time": "take str and use time.fromisoformat", "datetime.timedelta": "take a number of seconds",
    "decimal.Decimal": "take str and convert it", "uuid.UUID": "take str and convert it", "pathlib.Path": "take str and convert it",
}
ENUMS = {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}
CONTEXTS = {"ctx", "context", "run_context", "tool_context"}
SECRET = re.compile(r"passw|secret|token|credential|api_?key|private_?key", re.I)
MAX_NESTING = 32


class Problem(Exception):
    def __init__(self, node, text):
        self.place = (getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)
        self.text = text


def bound_names(statement):
    """The names that a statement of a module binds, itself or in blocks below."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name, statement
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.split(".")[0], statement
    if isinstance(statement, ast.TypeAlias):
        yield statement.name.id, statement
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    for target in targets:
        for node in ast.walk(target) if isinstance(target, ast.AST) else ():
            if isinstance(node, ast.Name):
                yield node.id, statement
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(statement, field, None) or ():
            if isinstance(inner, (ast.ExceptHandler, ast.match_case)):
                for deeper in inner.body:
                    yield from bound_names(deeper)
            elif isinstance(inner, ast.stmt):
                yield from bound_names(inner)


class Module:
    def __init__(self, tree):
        self.bound = {}
        for statement in tree.body:
            for name, node in bound_names(statement):
                self.bound.setdefault(name, []).append(node)

    def imported(self, name):
        """What an imported name stands for, or None."""
        nodes = self.bound.get(name, [])
        meanings = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname == name:
                        meanings.add(alias.name)
                    elif not alias.asname and alias.name.split(".")[0] == name:
                        meanings.add(name)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        meanings.add("." * node.level + (node.module or "") + "." + alias.name)
            else:
                return None
        return meanings.pop() if len(meanings) == 1 else None

    def meaning(self, node):
        """The full name of what an expression names, or None."""
        if isinstance(node, ast.Attribute):
            base = self.meaning(node.value)
            return base and base + "." + node.attr
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.bound:
            full = self.imported(node.id)
        else:
            full = node.id if node.id in BUILTINS else None
        return full and full.replace("typing_extensions.", "typing.")

    def alias(self, name):
        """The annotation that a name of this module abbreviates, or None."""
        nodes = self.bound.get(name, [])
        if len(nodes) != 1:
            return None
        node = nodes[0]
        if isinstance(node, ast.TypeAlias):
            return None if node.type_params else node.value
        if isinstance(node, ast.AnnAssign) and self.meaning(node.annotation) == "typing.TypeAlias":
            return node.value
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call) and self.meaning(value.func) == "typing.NewType" and len(value.args) == 2:
                return value.args[1]
            return value if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)) else None
        return None

    def enum_values(self, name):
        """The values of an enumeration of this module; None if it is none."""
        for node in self.bound.get(name, []):
            if isinstance(node, ast.ClassDef) and any(self.meaning(b) in ENUMS for b in node.bases):
                return [s.value.value for s in node.body
                        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant)
                        and isinstance(s.value.value, (str, int))]
        return None


def one_line(text):
    return " ".join(text.split())


class Schemas:
    def __init__(self, module, notes):
        self.module = module
        self.notes = notes

    def of(self, node, param, depth=0):
        if depth > MAX_NESTING:
            raise Problem(node, f"the annotation of {param} nests too deeply, or names itself")
        deeper = depth + 1
        if isinstance(node, ast.Constant):
            if node.value is None:
                return {"type": "null"}
            if isinstance(node.value, str):
                return self.of(self.parse(node, param), param, deeper)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.union([node.left, node.right], param, deeper)
        if isinstance(node, ast.Subscript):
            return self.generic(node, param, deeper)
        name = self.module.meaning(node)
        if name in SCALARS:
            return {"type": SCALARS[name]}
        if name in LISTS:
            return {"type": "array"}
        if name in MAPS:
            return {"type": "object"}
        if name in ANYTHING:
            return {}
        if name is None and isinstance(node, ast.Name):
            target = self.module.alias(node.id)
            if target is not None:
                return self.of(target, param, deeper)
        raise self.refused(node, name, param)

    def parse(self, node, param):
        """Parses an annotation in quotes; what is in it has the quotes' place."""
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise Problem(node, f"the annotation of {param} is in quotes, but is none")
        for part in ast.walk(inner):
            if hasattr(part, "lineno"):
                part.lineno, part.col_offset = node.lineno, node.col_offset
        return inner

    def refused(self, node, name, param):
        text = ast.unparse(node)
        if len(text) > 80:
            text = text[:77] + "..."
        base = name or text
        if base in INSTEAD:
            return Problem(node, f"{param} is {text}, which JSON does not have; {INSTEAD[base]}")
        if isinstance(node, ast.Name):
            values = self.module.enum_values(node.id)
            if values is not None:
                example = ", ".join(repr(v) for v in values[:4]) or "'a', 'b'"
                more = ", ..." if len(values) > 4 else ""
                return Problem(node, f"{param} is the enumeration {text}, but would be given a plain value; take Literal[{example}{more}] and convert it")
        return Problem(node, f"{param} is {text}, which has no form in JSON that is known here; take int, float, str, bool, "
                             "list[T], dict[str, T], Literal[...] or T | None, or write the manifest by hand")

    def arguments(self, node):
        inner = node.slice
        return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]

    def generic(self, node, param, depth):
        name = self.module.meaning(node.value)
        arguments = self.arguments(node)
        if name in LISTS and len(arguments) == 1:
            items = self.of(arguments[0], param, depth)
            return {"type": "array", "items": items} if items else {"type": "array"}
        if name in MAPS and len(arguments) == 2:
            if self.of(arguments[0], param, depth) != {"type": "string"}:
                raise Problem(arguments[0], f"{param} has keys other than str, which JSON does not have")
            values = self.of(arguments[1], param, depth)
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        if name == "typing.Optional" and len(arguments) == 1:
            return self.union([arguments[0], ast.Constant(value=None)], param, depth)
        if name == "typing.Union":
            return self.union(arguments, param, depth)
        if name == "typing.Literal":
            return self.literal(arguments, param)
        if name == "typing.Annotated" and arguments:
            return self.annotated(arguments, param, depth)
        if name in INSTEAD:
            raise self.refused(node.value, name, param)
        raise self.refused(node, None, param)

    def union(self, nodes, param, depth):
        schemas = []
        for node in nodes:
            schema = self.of(node, param, depth)
            # A union in a union is one union.
            for s in schema["anyOf"] if set(schema) == {"anyOf"} else [schema]:
                if s not in schemas:
                    schemas.append(s)
        if {} in schemas:
            return {}
        if len(schemas) == 1:
            return schemas[0]
        if all(set(s) == {"type"} for s in schemas):
            types = []
            for s in schemas:
                for t in s["type"] if isinstance(s["type"], list) else [s["type"]]:
                    if t not in types:
                        types.append(t)
            if "number" in types and "integer" in types:
                types.remove("integer")
            return {"type": types[0] if len(types) == 1 else types}
        return {"anyOf": schemas}

    def literal(self, nodes, param):
        values = []
        for node in nodes:
            try:
                value = ast.literal_eval(node)
            except ValueError:
                raise Problem(node, f"{param} has a Literal of {ast.unparse(node)[:80]}; its values must be written out")
            if not isinstance(value, (str, int, bool, type(None))):
                raise Problem(node, f"{param} has a Literal of a value that JSON does not have")
            if not any(type(v) is type(value) and v == value for v in values):
                values.append(value)
        kinds = {"null" if v is None else SCALARS[type(v).__name__] for v in values}
        schema = {"enum": values}
        if len(kinds) == 1:
            schema["type"] = kinds.pop()
        return schema

    def annotated(self, arguments, param, depth):
        schema = dict(self.of(arguments[0], param, depth))
        for extra in arguments[1:]:
            if isinstance(extra, ast.Call) and (self.module.meaning(extra.func) or "").endswith(".Doc") and len(extra.args) == 1:
                extra = extra.args[0]
            if isinstance(extra, ast.Constant) and isinstance(extra.value, str):
                schema["description"] = one_line(extra.value)
                continue
            self.notes.append([extra.lineno, extra.col_offset + 1,
                               f"{param}: {ast.unparse(extra)[:80]} in Annotated is not read; write the rule into input_schema"])
        return schema


# Docstrings: a summary, and what is said of each parameter.

SECTION = re.compile(r"^(args|arguments|parameters|params|keyword args|keyword arguments|other parameters|returns?|yields?|raises|"
                     r"examples?|notes?|see also|references|warnings?|warns|attributes|todo):?\s*$", re.I)
ABOUT_PARAMETERS = re.compile(r"^(args|arguments|parameters|params|keyword args|keyword arguments|other parameters):?\s*$", re.I)


def indent(line):
    return len(line) - len(line.lstrip())


def summary(lines):
    """The first paragraph, on one line."""
    kept = []
    for line in lines:
        text = line.strip()
        if text.startswith(":") or SECTION.match(text) or not text and kept:
            break
        if not text:
            continue
        kept.append(text)
    return one_line(" ".join(kept))


def sphinx(lines):
    found, name = {}, None
    for line in lines:
        m = re.match(r"^\s*:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$", line)
        if m:
            name = m[1]
            found[name] = [m[2]]
        elif not line.strip() or line.lstrip().startswith(":"):
            name = None
        elif name and indent(line) > 0:
            found[name].append(line)
    return found


def entries(lines, head):
    """Entries of a section: a line that head takes, and those below it that
    are indented further."""
    found, name, base = {}, None, None
    for line in lines:
        if not line.strip():
            continue
        if base is None:
            base = indent(line)
        if indent(line) < base:
            break
        if indent(line) == base:
            m = head.match(line.strip())
            name = None
            if m:
                names = [n.strip().lstrip("*") for n in m[1].split(",")]
                rest = m[2] if m.re.groups > 1 else ""
                name = names
                for n in names:
                    found[n] = [rest or ""]
        elif name:
            for n in name:
                found[n].append(line)
    return found


GOOGLE = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


def described(doc):
    lines = doc.splitlines()
    found = sphinx(lines)
    for i, line in enumerate(lines):
        if not ABOUT_PARAMETERS.match(line.strip()):
            continue
        below = lines[i + 1:]
        if below and re.match(r"^\s*-{3,}\s*$", below[0]):
            body = []
            for j, text in enumerate(below[1:]):
                following = below[j + 2] if j + 2 < len(below) else ""
                if re.match(r"^\s*-{3,}\s*$", following):
                    break
                body.append(text)
            found.update(entries(body, NUMPY))
        elif line.rstrip().endswith(":"):
            body = []
            for text in below:
                if text.strip() and indent(text) <= indent(line):
                    break
                body.append(text)
            found.update(entries(body, GOOGLE))
    return {name: one_line(" ".join(text)) for name, text in found.items()}


def context_like(arg, module):
    """Whether a parameter is filled in by whoever calls, not by a model."""
    if arg.annotation is None:
        return arg.arg in CONTEXTS
    node = arg.annotation
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        text = ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
    return re.fullmatch(r"[\w.]*Context(\[.*\])?", text.strip()) is not None


def json_default(node):
    """A default that JSON can say: (True, value)."""
    try:
        value = ast.literal_eval(node)
        text = json.dumps(value, allow_nan=False)
        text.encode()
        same = json.loads(text) == value and "\\ud" not in text.lower()
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False, None
    return same and not isinstance(value, tuple), value


def find(module, name):
    nodes = module.bound.get(name, [])
    functions = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
                 and not any((module.meaning(d) or "").endswith("overload") for d in n.decorator_list)]
    others = [n for n in nodes if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not nodes:
        raise Problem(None, f"there is no function {name} at the top of the module")
    if others:
        node = others[-1]
        if isinstance(node, ast.ImportFrom) and not functions and module.imported(name):
            raise Problem(node, f"{name} is imported from {module.imported(name).rpartition('.')[0]}; name the module that defines it")
        if isinstance(node, ast.ClassDef):
            raise Problem(node, f"{name} is a class; a handler is a function")
        raise Problem(node, f"{name} is bound to something else here, so that its signature is not certain")
    if len(functions) != 1:
        raise Problem(functions[-1] if functions else nodes[-1], f"{name} is defined {len(functions)} times, so that its signature is not certain")
    return functions[0]


def yields(function):
    stack = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return None


def read(tree, name):
    module, notes, errors = Module(tree), [], []
    try:
        node = find(module, name)
    except Problem as p:
        return {"errors": [[*p.place, p.text]]}

    def note(at, text):
        notes.append([at.lineno, at.col_offset + 1, text])

    def refuse(at, text):
        errors.append([at.lineno, at.col_offset + 1, text])

    a = node.args
    for arg in a.posonlyargs:
        refuse(arg, f"{arg.arg} is positional-only, but arguments are given by name")
    if a.vararg:
        refuse(a.vararg, f"*{a.vararg.arg} has no names; write each parameter out")
    if a.kwarg:
        refuse(a.kwarg, f"**{a.kwarg.arg} takes any name; write each parameter out")
    if at := yields(node):
        refuse(at, f"{name} yields, but a tool gives one result; return a list")
    for decorator in node.decorator_list:
        note(decorator, f"{name} is decorated with @{ast.unparse(decorator)[:80]}; the schema is that of the function below it")

    doc = ast.get_docstring(node) or ""
    about = described(doc)
    schemas = Schemas(module, notes)
    properties, required, left_out = {}, [], []
    defaults = dict(zip([x.arg for x in (a.posonlyargs + a.args)[::-1]], a.defaults[::-1]))
    defaults.update({x.arg: d for x, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None})
    for arg in a.args + a.kwonlyargs:
        default = defaults.get(arg.arg)
        if arg.arg == "idempotency_key":
            left_out.append(arg.arg)
            continue
        if context_like(arg, module):
            left_out.append(arg.arg)
            if default is None:
                note(arg, f"{arg.arg} is left out of the schema, and calls do not give it: it needs a default")
            continue
        if arg.arg in ("self", "cls") and arg is a.args[0]:
            refuse(arg, f"{name} takes {arg.arg}, as methods do; a handler is a function of its own")
            continue
        if arg.annotation is None:
            refuse(arg, f"{arg.arg} has no annotation; write one, such as {arg.arg}: str")
            continue
        try:
            schema = dict(schemas.of(arg.annotation, arg.arg))
        except Problem as p:
            errors.append([*p.place, p.text])
            continue
        if schema == {}:
            note(arg, f"{arg.arg} takes anything; a schema that says what is meant helps models and stops mistakes")
        if arg.arg in about:
            schema["description"] = about[arg.arg]
        if default is None:
            required.append(arg.arg)
        elif SECRET.search(arg.arg):
            note(default, f"the default of {arg.arg} is not written into the schema, as it may be secret")
        else:
            fits, value = json_default(default)
            if fits and value is not None:
                schema["default"] = value
        properties[arg.arg] = schema
    known = set(properties) | set(left_out) | {x.arg for x in a.posonlyargs} | {x.arg for x in (a.vararg, a.kwarg) if x}
    for extra in sorted(set(about) - known):
        note(node, f"the docstring describes {extra}, which is no parameter")
    description = summary(doc.splitlines())
    if not description:
        note(node, f"{name} has no docstring, so that models are not told what it does; write the description")
    if errors:
        return {"errors": sorted(errors)}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if not properties:
        del schema["properties"]
    return {
        "line": node.lineno, "async": isinstance(node, ast.AsyncFunctionDef), "description": description,
        "input_schema": schema, "left_out": left_out, "notes": sorted(notes),
    }


def characters(messages):
    """Columns that count bytes of UTF-8 become ones that count characters."""
    lines = source.split("\n")
    for message in messages:
        if 0 < message[0] <= len(lines):
            before = lines[message[0] - 1].encode()[:message[1] - 1]
            message[1] = len(before.decode(errors="ignore")) + 1


def answer():
    try:
        tree = ast.parse(source, filename=file)
    except SyntaxError as e:
        return {"errors": [[e.lineno or 1, e.offset or 1, "not Python: " + e.msg]]}
    except (ValueError, RecursionError) as e:
        return {"errors": [[1, 1, "cannot be parsed: " + (str(e) or type(e).__name__)]]}
    found = read(tree, function)
    characters(found.get("errors", []))
    characters(found.get("notes", []))
    return found


answer()
