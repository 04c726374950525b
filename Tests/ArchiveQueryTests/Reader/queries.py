#!/usr/bin/env python3
"""Answers queries over JSON documents, by the language's description alone and in the plainest way.

Usage: queries.py DOCUMENTS QUERIES. Both are files of lines: a JSON document (the most recent first; its key is its
number from 0 on), a query. Prints a JSON array a line: the keys of the rows, or their columns.
"""

import functools
import itertools
import json
import re
import sys
import unicodedata

TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\.)*") |
    (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) |
    (?P<word>@?[A-Za-z_][A-Za-z0-9_]*) |
    (?P<sign><=|>=|!=|[=<>|()\[\],.+*/-]) )""",
    re.X,
)
MISSING = None
# A step to all elements of a list.
EACH = object()


def tokens(query):
    found, place = [], 0
    query = query.rstrip()
    while place < len(query):
        match = TOKEN.match(query, place)
        if not match:
            raise ValueError("no token in " + query[place:])
        found.append((match.lastgroup, match.group(match.lastgroup)))
        place = match.end()
    return found + [("end", "")]


class Parser:
    def __init__(self, query):
        self.tokens, self.place = tokens(query), 0

    def peek(self, value):
        return self.tokens[self.place][0] in ("word", "sign") and self.tokens[self.place][1] == value

    def accept(self, value):
        if self.peek(value):
            self.place += 1
            return True
        return False

    def take(self):
        self.place += 1
        return self.tokens[self.place - 1]

    def expect(self, value):
        if not self.accept(value):
            raise ValueError("expected %s at %r" % (value, self.tokens[self.place:]))

    def pipeline(self):
        stages = []
        while self.tokens[self.place][0] != "end":
            stages.append(self.stage())
            if not self.accept("|"):
                break
        joined = []
        for stage in stages:
            if joined and stage[0] == "figures" and joined[-1][0] == "group" and joined[-1][2] is None:
                joined[-1] = ("group", joined[-1][1], stage[1])
            else:
                joined.append(stage)
        return joined

    def stage(self):
        name = self.take()[1]
        if name == "find":
            return ("find", self.either())
        if name == "sort":
            keys = []
            while True:
                path = self.operand()
                keys.append((path, self.accept("desc")))
                if not self.accept(","):
                    return ("sort", keys)
        if name in ("limit", "skip"):
            return (name, int(self.take()[1]))
        if name == "select":
            return ("select", self.list(self.column))
        if name == "distinct":
            return ("distinct", self.list(self.column))
        if name == "group":
            self.expect("by")
            return ("group", self.list(self.column), None)
        self.place -= 1
        return ("figures", self.list(self.figure))

    def column(self):
        path = self.operand()
        return (path, (self.take()[1],) if self.accept("as") else path)

    def list(self, item):
        items = [item()]
        while self.accept(","):
            items.append(item())
        return items

    def figure(self):
        name = self.take()[1]
        percent, path = 50, None
        if name == "count" and self.accept("distinct"):
            name, path = "count distinct", self.operand()
        elif name != "count":
            path = self.operand()
        if name == "percentile":
            percent = self.value()
            name = "p%g" % percent
        return (name, path, percent, self.take()[1] if self.accept("as") else None)

    def operand(self):
        """A path, a number, or (sign, left, right) of two of them."""
        left = self.product()
        while self.peek("+") or self.peek("-"):
            left = (self.take()[1], left, self.product())
        return left

    def product(self):
        left = self.part()
        while self.peek("*") or self.peek("/"):
            left = (self.take()[1], left, self.part())
        return left

    def part(self):
        if self.accept("("):
            inner = self.operand()
            self.expect(")")
            return inner
        return self.value() if self.tokens[self.place][0] == "number" else self.path()

    def path(self):
        kind, name = self.take()
        steps = [json.loads(name) if kind == "text" else name]
        while True:
            if self.accept("."):
                kind, name = self.take()
                steps.append(json.loads(name) if kind == "text" else name)
            elif self.accept("["):
                steps.append(EACH if self.peek("]") else int(self.take()[1]))
                self.expect("]")
            else:
                return tuple(steps)

    def either(self):
        parts = [self.both()]
        while self.accept("or"):
            parts.append(self.both())
        return lambda row: any(part(row) for part in parts)

    def both(self):
        parts = [self.one()]
        while self.accept("and"):
            parts.append(self.one())
        return lambda row: all(part(row) for part in parts)

    def one(self):
        if self.accept("not"):
            inner = self.one()
            return lambda row: not inner(row)
        if self.peek("(") and not self.is_calculation():
            self.expect("(")
            inner = self.either()
            self.expect(")")
            return inner
        if self.peek("count") and self.tokens[self.place + 1][1] == "(":
            self.place += 2
            path = self.path()
            self.expect(")")
            relation, number = self.take()[1], self.value()
            return lambda row: any(counts(value, relation, number) for value in values_of(row, path))
        return self.condition(self.operand())

    def is_calculation(self):
        """Whether the parenthesis here holds no condition: behind its end a sign follows."""
        place, depth = self.place, 0
        while True:
            sign = self.tokens[place][1] if self.tokens[place][0] == "sign" else ""
            depth += (sign == "(") - (sign == ")")
            place += 1
            if depth == 0:
                return self.tokens[place][1] in ("+", "-", "*", "/", "<", ">", "=", "!=", "<=", ">=")

    def condition(self, path):
        test = self.test(self.take()[1])
        return lambda row: any(test(row, value) for value in values_of(row, path))

    def test(self, word):
        if word in ("=", "!=", "<", "<=", ">", ">="):
            if self.tokens[self.place][0] == "word" and self.tokens[self.place][1] not in ("true", "false", "null"):
                other = self.operand()
                return lambda row, own: any(compares(own, word, value) for value in values_of(row, other))
            if self.tokens[self.place][0] == "number":
                other = self.operand()
                return lambda row, own: compares(own, word, get(row, other))
            value = self.value()
            return lambda row, own: compares(own, word, value)
        if word == "in":
            values = self.values()
            return lambda row, own: any(compares(own, "=", value) for value in values)
        if word == "between":
            low = self.value()
            self.expect("and")
            high = self.value()
            return lambda row, own: compares(own, ">=", low) and compares(own, "<=", high)
        if word in ("starts", "ends"):
            self.expect("with")
            text = plain(self.value())
            return lambda row, own: isinstance(own, str) and edge(plain(own), text, word == "ends")
        if word in ("like", "ilike"):
            fold = word == "ilike"
            pattern = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in self.value())
            pattern = re.compile(pattern, re.S | (re.I if fold else 0))
            return lambda row, own: isinstance(own, str) and pattern.fullmatch(plain(own)) is not None
        if word in ("contains", "icontains"):
            text = self.value()
            fold = word == "icontains"
            return lambda row, own: isinstance(own, str) and found(text, own, fold)
        if word == "matches":
            pattern = self.value()
            return lambda row, own: isinstance(own, str) and re.search(pattern, own) is not None
        if word == "has":
            if self.accept("any"):
                values = self.values()
                return lambda row, own: any(has(own, value) for value in values)
            values = self.values() if self.accept("all") else [self.value()]
            return lambda row, own: isinstance(own, (list, str)) and all(has(own, v) for v in values)
        if word == "is":
            return self.presence()
        raise ValueError("no operator: " + word)

    def presence(self):
        is_not = self.accept("not")
        if self.accept("empty"):
            return lambda row, own: emptiness(own) is (not is_not)
        self.expect("null")
        if self.peek("or") and self.tokens[self.place + 1][1] == "empty":
            self.place += 2
            return lambda row, own: own is MISSING or emptiness(own) is True
        return lambda row, own: (own is MISSING) != is_not

    def value(self):
        kind, text = self.take()
        if kind == "text" or kind == "number":
            return json.loads(text)
        return {"true": True, "false": False, "null": None}[text]

    def values(self):
        self.expect("[")
        if self.accept("]"):
            return []
        values = self.list(self.value)
        self.expect("]")
        return values


def values_of(row, path):
    """One value, or one of each element of a list: null where an element lacks it, or is no object."""
    if not is_many(path):
        return [get(row, path)]
    place = path.index(EACH)
    elements, rest = get(row, path[:place]), path[place + 1 :]
    if not isinstance(elements, list):
        return []
    return [value for element in elements for value in (values_of((None, element, None), rest) if rest else [element])]


def is_many(path):
    return isinstance(path, tuple) and EACH in path


def shown(row, path):
    values = values_of(row, path)
    return values if is_many(path) else values[0]


def combinations(row, columns):
    """The different combinations of a row's values."""
    found = {}
    for values in itertools.product(*(values_of(row, path) for path, _ in columns)):
        found.setdefault(tuple(map(group_key, values)), list(values))
    return found.items()


def leading(row, path, descending):
    """Of several values the one that a sort uses."""
    key = functools.cmp_to_key(lambda a, b: before(a, b, descending))
    return min(values_of(row, path), key=key, default=MISSING)


def calculated(sign, a, b):
    if kind(a) != "number" or kind(b) != "number" or sign == "/" and b == 0:
        return MISSING
    if sign == "/":
        return a // b if isinstance(a, int) and isinstance(b, int) and a % b == 0 else a / b
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


def get(row, path):
    if not isinstance(path, tuple):
        return path
    if path[0] in ("+", "-", "*", "/"):
        return calculated(path[0], get(row, path[1]), get(row, path[2]))
    key, value, columns = row
    if columns is not None:
        for name, column in columns:
            if path[: len(name)] == name:
                return follow(column, path[len(name) :])
    if path == ("@key",):
        return key
    return follow(value, path) if columns is None else MISSING


def follow(value, path):
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return MISSING
            value = value[step]
        else:
            if not isinstance(value, dict) or step not in value:
                return MISSING
            value = value[step]
    return value


def kind(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "text" if isinstance(value, str) else "other"


def plain(value):
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def compares(stored, relation, value):
    if kind(stored) == "null" or kind(value) == "null":
        same = kind(stored) == kind(value)
        return same if relation == "=" else relation == "!=" and not same
    if kind(stored) != kind(value) or kind(stored) == "other":
        return False
    a, b = plain(stored), plain(value)
    if relation in ("=", "!="):
        return (a == b) == (relation == "=")
    if kind(stored) == "boolean":
        return False
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[relation]


def has(stored, value):
    if isinstance(stored, list):
        return any(compares(element, "=", value) for element in stored)
    return isinstance(stored, str) and isinstance(value, str) and len(plain(value)) == 1 and found(value, stored, False)


def found(text, stored, fold):
    text, stored = plain(text), plain(stored)
    if fold:
        text, stored = plain(text.casefold()), plain(stored.casefold())
    place = stored.find(text)
    while place >= 0:
        end = place + len(text)
        # A part of a character is none.
        if not text or end == len(stored) or not unicodedata.category(stored[end]).startswith("M"):
            return True
        place = stored.find(text, place + 1)
    return False


def edge(stored, text, at_end):
    if at_end:
        # A mark alone is no end, for it belongs to what stands before.
        return stored.endswith(text) and not unicodedata.category(text[:1] or "a").startswith("M")
    rest = stored[len(text):]
    return stored.startswith(text) and not unicodedata.category(rest[:1] or "a").startswith("M")


def emptiness(value):
    return len(value) == 0 if isinstance(value, (str, list, dict)) else None


def counts(value, relation, number):
    return isinstance(value, (str, list, dict)) and compares(len(value), relation, number)


KINDS = {"boolean": 0, "number": 1, "text": 2}


def before(a, b, descending):
    """Negative if a comes first."""
    ka, kb = KINDS.get(kind(a), 9), KINDS.get(kind(b), 9)
    if ka == 9 or kb == 9:
        return (ka == 9) - (kb == 9)
    if ka == kb:
        a, b = plain(a), plain(b)
        order = (a > b) - (a < b)
    else:
        order = ka - kb
    return -order if descending else order


def group_key(value):
    if value is None:
        return ("null",)
    if isinstance(value, (list, dict)):
        return ("other", json.dumps(value))
    return (kind(value), plain(value))


def figures_of(figures, rows):
    row = []
    for name, path, percent, _ in figures:
        values = [] if path is None else [value for each in rows for value in values_of(each, path)]
        numbers = [value for value in values if kind(value) == "number"]
        ordered = [value for value in values if kind(value) in KINDS]
        key = functools.cmp_to_key(lambda a, b: before(a, b, False))
        if name == "count":
            row.append(len(rows))
        elif name == "sum":
            row.append(sum(numbers))
        elif name == "count distinct":
            row.append(len({group_key(value) for value in values if value is not None}))
        elif name == "median" or name[0] == "p":
            row.append(percentile(sorted(numbers), percent))
        elif name == "avg":
            row.append(sum(numbers) / len(numbers) if numbers else None)
        elif name == "min":
            row.append(min(ordered, key=key) if ordered else None)
        else:
            row.append(max(ordered, key=key) if ordered else None)
    return row


def percentile(numbers, percent):
    if not numbers:
        return None
    hundredths = percent * (len(numbers) - 1)
    lower = int(hundredths // 100)
    part = (hundredths - 100 * lower) / 100
    if part == 0:
        return numbers[lower]
    return numbers[lower] + (numbers[lower + 1] - numbers[lower]) * part


def names_of(figures):
    names = []
    for name, path, _, called in figures:
        alone = sum(other[0] == name for other in figures) == 1
        names.append((called,) if called else (name if alone else name + " " + ".".join(map(str, path)) if path else name,))
    return names


def run(stages, rows):
    for stage in stages:
        if stage[0] == "find":
            rows = [row for row in rows if stage[1](row)]
        elif stage[0] == "sort":

            def order(a, b):
                for path, descending in stage[1]:
                    result = before(leading(a, path, descending), leading(b, path, descending), descending)
                    if result:
                        return result
                return 0

            rows = sorted(rows, key=functools.cmp_to_key(order))
        elif stage[0] == "limit":
            rows = rows[: stage[1]]
        elif stage[0] == "skip":
            rows = rows[stage[1] :]
        elif stage[0] == "select":
            rows = [(row[0], None, [(name, shown(row, path)) for path, name in stage[1]]) for row in rows]
        elif stage[0] == "distinct":
            seen = {}
            for row in rows:
                for key, values in combinations(row, stage[1]):
                    seen.setdefault(key, values)
            rows = [(None, None, list(zip([name for _, name in stage[1]], values))) for values in seen.values()]
        elif stage[0] == "figures":
            rows = [(None, None, list(zip(names_of(stage[1]), figures_of(stage[1], rows))))]
        else:
            figures = stage[2] or [("count", None, 0, None)]
            groups = {}
            for row in rows:
                for key, values in combinations(row, stage[1]):
                    groups.setdefault(key, (values, []))[1].append(row)

            def group_order(a, b):
                for left, right in zip(a[0], b[0]):
                    result = before(left, right, False)
                    if result:
                        return result
                return 0

            names = [name for _, name in stage[1]] + names_of(figures)
            rows = [
                (None, None, list(zip(names, values + figures_of(figures, members))))
                for values, members in sorted(groups.values(), key=functools.cmp_to_key(group_order))
            ]
    return rows


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = [(str(number), json.loads(line), None) for number, line in enumerate(file)]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            rows = run(Parser(line.rstrip("\n")).pipeline(), documents)
            print(json.dumps([row[0] if row[2] is None else [value for _, value in row[2]] for row in rows]))


main()
