"""What can be said about the dependencies with cargo and Python alone.

`dependencies.py deny`: a stand-in for cargo-deny where it is not installed. Reads the same deny.toml and checks the
licences, the banned crates and the sources.
`dependencies.py msrv`: no crate that a published library depends on asks for a newer Rust than the library promises.
"""

import json
import re
import subprocess
import sys
import tomllib

REGISTRY = "registry+"


def metadata():
    out = subprocess.run(["cargo", "metadata", "--format-version=1", "--all-features"], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def licence_allowed(expression, allowed):
    """Whether an SPDX expression holds when exactly the licences of `allowed` are true."""
    terms = re.findall(r"\(|\)|[^\s()/]+(?:\s+WITH\s+[^\s()/]+)?|/", expression or "")
    words = {"AND": "and", "OR": "or", "/": "or", "(": "(", ")": ")"}
    formula = " ".join(words.get(term) or str(term in allowed) for term in terms)
    return bool(formula) and eval(formula, {"__builtins__": {}})  # only True, False, and, or, ( and ) are left


def check_deny(graph):
    with open("deny.toml", "rb") as file:
        rules = tomllib.load(file)
    allowed = set(rules["licenses"]["allow"])
    banned = {entry["crate"] for entry in rules["bans"]["deny"]}
    for package in graph["packages"]:
        name = f"{package['name']} {package['version']}"
        if not licence_allowed(package["license"], allowed):
            yield f"{name}: licence {package['license']} is not allowed"
        if package["name"] in banned:
            yield f"{name}: banned"
        if package["source"] and not package["source"].startswith(REGISTRY):
            yield f"{name}: comes from {package['source']}"


def check_msrv(graph):
    packages = {package["id"]: package for package in graph["packages"]}
    edges = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(k["kind"] != "dev" for k in dep["dep_kinds"])]
        for node in graph["resolve"]["nodes"]
    }

    def number(version):
        return [int(part) for part in (version + ".0").split(".")[:2]]

    for root in graph["workspace_members"]:
        library = packages[root]
        if library["publish"] == [] or not any("lib" in target["kind"] for target in library["targets"]):
            continue
        seen, open_ids = set(), [root]
        while open_ids:
            current = open_ids.pop()
            if current in seen:
                continue
            seen.add(current)
            open_ids += edges[current]
            package = packages[current]
            if number(package["rust_version"] or "1.0") > number(library["rust_version"]):
                yield f"{library['name']} promises Rust {library['rust_version']}, but {package['name']} {package['version']} needs {package['rust_version']}"


def main():
    graph = metadata()
    problems = sorted({"deny": check_deny, "msrv": check_msrv}[sys.argv[1]](graph))
    print("\n".join(problems) or f"{len(graph['packages'])} packages: nothing to say")
    sys.exit(1 if problems else 0)


main()
