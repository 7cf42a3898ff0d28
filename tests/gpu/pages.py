"""Sections of docs/gpu-results.md that scripts write."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/gpu-results.md"


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"


def put(title, text):
    """Writes the section `## TITLE` anew, up to the next one; at the end of the page if there is none."""
    page = PAGE.read_text() if PAGE.exists() else "# Results on a GPU\n"
    section = f"## {title}\n\n{text.strip()}\n"
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", page, re.M | re.S)
    if found:
        page = page[:found.start()] + section + ("\n" if found.end() < len(page) else "") + page[found.end():]
    else:
        page = page.rstrip("\n") + "\n\n" + section
    PAGE.write_text(page)


def put_table(page, title, text):
    """Writes the first table of the section `## TITLE` of a page anew."""
    whole = page.read_text()
    begin = whole.index(f"## {title}\n")
    found = re.compile(r"^\|.*?\n(?!\|)", re.M | re.S).search(whole, begin)
    page.write_text(whole[:found.start()] + text + whole[found.end():])
