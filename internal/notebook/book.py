"""Makes a book of pages from notebooks as they are, with their outputs, and of the index that lists them.

The caller writes the job as one line of JSON to standard input and reads the name of each page that is done, one a line,
from standard output.
"""

import html
import json
import os
import pathlib
import re
import sys

from page import page, replace

STYLE = """<style>
nav.book { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .3rem 1.5rem; padding: .7rem 1rem; font: 15px/1.4 system-ui, sans-serif; }
nav.book a { color: #0b5fb0; text-decoration: none; }
nav.book a:hover, nav.book a:focus-visible { text-decoration: underline; }
main { max-width: 64rem; margin: 0 auto; }
img { max-width: 100%; }
</style>
</head>"""


def main():
    done = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline())

    import nbformat

    folder = pathlib.Path(job["output"])
    books = job["notebooks"]
    contents = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(pathlib.Path(job["contents"]).read_text(encoding="utf-8"), id="contents")]
    )
    contents.metadata["language_info"] = {"name": "go", "pygments_lexer": "go"}
    replace(folder / "index.html", finish(page(contents, folder, job["title"], job["folder"]), "", books))
    print("index", file=done)
    for k, entry in enumerate(books):
        book = nbformat.read(entry["path"], as_version=4)
        before = link(books[k - 1], "← ") if k > 0 else "<span></span>"
        after = link(books[k + 1], "", " →") if k + 1 < len(books) else "<span></span>"
        bar = f'<nav class="book">{before}<a href="index.html">Contents</a>{after}</nav>'
        text = page(book, folder, entry["title"], job["folder"])
        replace(folder / (entry["name"] + ".html"), finish(text, bar, books))
        print(entry["name"], file=done)


def link(entry, left="", right=""):
    return f'<a href="{entry["name"]}.html">{left}{html.escape(entry["title"])}{right}</a>'


def finish(text, bar, books):
    """Puts the bar above and below, and makes links to notebooks of the book links to their pages."""
    for entry in books:
        text = re.sub(rf'href="(?:\./)?{re.escape(entry["name"])}\.ipynb(#[^"]*)?"', rf'href="{entry["name"]}.html\1"', text)
    text = text.replace("</head>", STYLE, 1)
    if bar:
        text = re.sub(r"(<body[^>]*>)", lambda m: m.group(1) + "\n" + bar, text, count=1)
        text = text.replace("</body>", bar + "\n</body>", 1)
    return text


if __name__ == "__main__":
    main()
