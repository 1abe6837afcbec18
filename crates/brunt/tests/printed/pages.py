#!/usr/bin/env python3
"""Checks docs/ as a site: every page is in SUMMARY.md once, every link and anchor leads somewhere, and docs/reference/environment.md has
every variable that the code reads.

    pages.py ROOT
"""
import re, sys
from pathlib import Path

root = Path(sys.argv[1]).resolve()
docs, problems = root / "docs", []


def outside_fences(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)


def links(page):
    prose = re.sub(r"`[^`\n]*`", "", outside_fences(page.read_text()))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link and not link.startswith("mailto:")]


def anchors(page):
    """As mdBook and GitHub make them of headings."""
    headings = re.findall(r"^#+ (.+)$", outside_fences(page.read_text()), re.M)
    words = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", word.lower().strip()).replace(" ", "-") for word in words}


summary = links(docs / "SUMMARY.md")
pages = sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md") if path.name != "SUMMARY.md")
problems += [f"docs/SUMMARY.md lacks {page}" for page in pages if page not in summary]
problems += [f"docs/SUMMARY.md lists {page} {summary.count(page)} times" for page in sorted(set(summary)) if summary.count(page) > 1]
for page in [root / "README.md", root / "examples/README.md", *sorted(docs.rglob("*.md"))]:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            problems.append(f"{page.relative_to(root)}: {link} is not there")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            problems.append(f"{page.relative_to(root)}: {link}: no such heading")

sheet = (docs / "reference/environment.md").read_text()
READ = re.compile(r'(?:variable|var|var_os|text|switch)\([^()"]*(?:\([^()]*\))?[^()"]*"([A-Z][A-Z0-9_]{3,})"|"((?:K6|BRUNT|OTEL)_[A-Z0-9_]*[A-Z0-9])"')
# Variables of the tests, of other programs, prefixes of names, and properties of plans.
OWN = re.compile(r"BRUNT_(TEST|SHOW|NO_SUCH)|EXPECTED_VALUE|UPDATE|CARGO|GITHUB_TOKEN|K6_VU$|EMPTY$|HOST$")
for file in sorted((root / "crates").glob("*/src/**/*.rs")):
    for pair in READ.findall(file.read_text()):
        name = pair[0] or pair[1]
        if not OWN.match(name) and f"`{name}`" not in sheet:
            problems.append(f"docs/reference/environment.md lacks {name} of {file.relative_to(root)}")

print("\n".join(dict.fromkeys(problems)) or f"{len(pages)} pages")
sys.exit(bool(problems))
