"""Makes pages from notebooks that need no network: execute.py makes one of each, book.py all that belong together."""

import importlib.util
import os
import pathlib
import shutil


def page(book, folder, title, source):
    """Returns the notebook as HTML to be put into the folder: its formulas use the MathJax that is put beside it."""
    from nbconvert import HTMLExporter

    mathjax = folder / "mathjax"
    if not mathjax.exists():
        static = pathlib.Path(importlib.util.find_spec("jupyter_server_mathjax").origin).parent / "static"
        copy(static, mathjax, "mathmaps", "SVG")
    # Embedding images would close every <details> at its first line; figures are part of the outputs already.
    exporter = HTMLExporter(embed_images=False)
    exporter.mathjax_url = "mathjax/MathJax.js?config=TeX-AMS-MML_HTMLorMML-full,Safe"
    exporter.require_js_url = exporter.jquery_url = ""
    html, _ = exporter.from_notebook_node(book, resources={"metadata": {"name": title, "path": source}})
    # Of MathJax's fonts only these are there; without this it would ask for others first.
    fonts = '{"HTML-CSS": {availableFonts: [], imageFont: null, preferredFont: null, webFont: "STIX-Web"}}'
    config = f'<script type="text/x-mathjax-config">MathJax.Hub.Config({fonts});</script>\n</head>'
    return html.replace("</head>", config, 1)


def copy(source, folder, *without):
    """Copies a folder whole or not at all."""
    part = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    try:
        shutil.copytree(source, part, ignore=shutil.ignore_patterns(*without))
        part.rename(folder)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(error, OSError) and folder.exists():
            return  # another run has copied it meanwhile
        if isinstance(error, shutil.Error):
            # It lists every file, of hundreds.
            raise OSError(f"{folder}: {error.args[0][0][2]}") from None
        raise


def replace(path, text):
    """Writes a file whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            # What fails while it is written does not say by itself where.
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
