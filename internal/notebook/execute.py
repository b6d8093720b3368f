"""Executes one notebook, cell by cell, and writes it and a page made from it.

The caller writes the job as one line of JSON to standard input and reads one event a line from standard output. After each
cell it answers with a line, "go on" or "stop": whether a cell failed is for the caller to judge.
"""

import json
import os
import pathlib
import signal
import sys
import time

from page import page, replace


def main():
    # Events have standard output to themselves: what libraries print goes to standard error.
    events = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.readline())

    def tell(event, **values):
        print(json.dumps({"event": event, **values}), file=events, flush=True)

    def stop(*_):
        on_signal(signal.SIG_IGN)
        sys.exit(143)

    on_signal(stop)

    import nbformat

    book = nbformat.read(job["notebook"], as_version=4)
    output = pathlib.Path(job["output"])

    def write(ending, text):
        try:
            replace(output.with_name(output.name + ending), text)
        except OSError as error:
            tell("unwritable", error=f"{error.filename}: {error.strerror}")
            sys.exit(1)

    try:
        execute(book, job, tell)
    finally:
        # What ran is written also when the rest did not.
        write(".ipynb", nbformat.writes(book) + "\n")
    if job["html"]:
        write(".html", page(book, output.parent, job["title"], job["folder"]))
    tell("written")


def on_signal(handler):
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, handler)


def start(client):
    """Starts the kernel. A signal waits until it is known which process that is: nobody could end it otherwise."""
    came, handler = [], signal.getsignal(signal.SIGTERM)
    on_signal(lambda *_: came.append(True))
    try:
        client.create_kernel_manager()
        client.start_new_kernel()
    finally:
        on_signal(handler)
    if came:
        handler()


def execute(book, job, tell):
    import nbclient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    client = nbclient.NotebookClient(
        book,
        kernel_name=job["kernel"],
        timeout=job["timeout"],
        record_timing=False,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": job["folder"]}},
    )
    cells = [k for k, cell in enumerate(book.cells) if cell.cell_type == "code" and cell.source.strip()]
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # Pages need to know what to colour the code as; asking the kernel would take seconds.
    book.metadata.setdefault("language_info", {"name": "go", "mimetype": "text/x-go", "file_extension": ".go"})
    # Jupyter stores an empty name where the kernel gives none, and pages would be coloured as Python.
    book.metadata["language_info"]["pygments_lexer"] = "go"
    try:
        start(client)
        with client.setup_kernel():
            tell("kernel", cells=len(cells))
            for count, k in enumerate(cells, start=1):
                cell, begin, error = book.cells[k], time.monotonic(), ""
                tell("start", cell=count)
                try:
                    client.execute_cell(cell, k)
                except CellTimeoutError:
                    error = f"not done after {job['timeout']} s"
                except DeadKernelError:
                    error = "the kernel died"
                except CellExecutionError as failure:
                    error = failure.evalue or failure.ename
                told = [out for out in cell.outputs if out.output_type in ("stream", "error")]
                shown = [str(out.get("data", {}).get("text/markdown", "")) for out in cell.outputs]
                tell("cell", cell=count, seconds=time.monotonic() - begin, source=cell.source, outputs=told, shown=shown, error=error)
                if sys.stdin.readline().strip() != "go on":
                    break
            # The polite way takes seconds. The kernel's temporary files are in a folder that the caller removes.
            kill(client)
    finally:
        kill(client)


def kill(client):
    """Ends the kernel and the cell's program, which is in its group; also a kernel that has only begun to start."""
    group = getattr(getattr(client.km, "provisioner", None), "pgid", None)
    if group and hasattr(os, "killpg"):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


if __name__ == "__main__":
    main()
