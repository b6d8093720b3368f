#!/usr/bin/env python3
"""Where the processor time of a task goes, kernel by kernel, in this program on XLA.

    go build -o build/scorelab ./cmd/scorelab
    python3 bench/kernels.py build/scorelab dsm2d 5

Needs Linux on x86-64 with perf and objdump (Debian: linux-perf, binutils). XLA writes its compiled kernels to a temporary
folder; perf takes 2,000 samples a second of where the program is; the bytes there, read from the program's memory, are looked
up in the kernels. What perf finds in no library and nobody wrote to the folder is code that oneDNN makes at run time: matrix
products.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


def main(binary, task, seconds):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, XLA_FLAGS=f"--xla_dump_to={folder}/dump --xla_dump_hlo_as_text", SCOREKIT_QUIET="1", GOMLX_BACKEND="xla:cpu")
        program = subprocess.Popen([binary, "benchwork", "--folder", folder, "--serve", "--task", task], env=env, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if "ready" not in program.stdout.readline():
            sys.exit(f"{task}: the program did not start")
        samples = folder + "/perf.data"
        recording = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-p", str(program.pid), "-o", samples,
                                      "--", "sleep", str(seconds)], stderr=subprocess.DEVNULL)
        program.stdin.write(f"{seconds}\n")
        program.stdin.flush()
        turn = json.loads(program.stdout.readline())
        recording.wait()
        text = subprocess.run(["perf", "script", "-i", samples, "-F", "ip,sym,dso"], capture_output=True, text=True, check=True).stdout
        named, generated = sort(text)
        kernels = attribute(generated, program.pid, objects(folder + "/dump"))
        program.stdin.close()
        program.wait()
    report(task, turn, named, kernels)


def sort(text):
    """Splits perf's lines into counts of named functions and counts of addresses in code made at run time."""
    named, generated = collections.Counter(), collections.Counter()
    for line in text.splitlines():
        found = re.match(r"\s*([0-9a-f]+)\s+(.*)\s+\((.*)\)$", line)
        if not found:
            continue
        address, symbol, library = found.groups()
        if "JIT" in library or ".so" not in library and "kernel" not in library and "unknown" in symbol:
            generated[int(address, 16)] += 1
        elif "kernel" in library:
            named["system"] += 1
        else:
            named[group(symbol, library)] += 1
    return named, generated


def group(symbol, library):
    if "pack" in symbol:
        return "matrix products: packing of operands"
    if "gemm" in symbol.lower() or "xnn_" in symbol:
        return "matrix products"
    if re.search(r"ThreadPool|RunQueue|EventCount|Steal|ThunkExecutor|CountDown", symbol):
        return "threads of XLA"
    name = os.path.basename(library)
    if name.startswith("xla") or "pjrt" in name:
        return "rest of XLA"
    return f"{symbol.split('(')[0][:40]} ({name})" if name.startswith("libm") else f"all of {name}"


def objects(folder):
    """The code of every kernel, by name."""
    found = []
    for path in glob.glob(folder + "/*.o"):
        name = re.sub(r".*obj-file\.", "", os.path.basename(path)).replace("_kernel_module.o", "")
        with open(path, "rb") as file:
            content = file.read()
        for line in subprocess.run(["objdump", "-h", path], capture_output=True, text=True).stdout.splitlines():
            part = line.split()
            if len(part) > 6 and part[1] in (".text", ".ltext"):
                size, at = int(part[2], 16), int(part[5], 16)
                if size:
                    found.append((name, content[at:at + size]))
    return found


def attribute(generated, pid, objects):
    """Counts samples by kernel: of the bytes around an address any twelve that a kernel has lead to it, if most of the rest agrees."""
    kernels, ranges = collections.Counter(), []
    with open(f"/proc/{pid}/mem", "rb") as memory:
        def read(at, n):
            try:
                memory.seek(at)
                return memory.read(n)
            except OSError:
                return b""

        def look(address):
            for low, high, name in ranges:
                if low <= address < high:
                    return name
            around = read(address - 120, 256)
            for start in range(0, max(len(around) - 12, 0), 6):
                for name, code in objects:
                    place = code.find(around[start:start + 12])
                    low = address - 120 + start - place
                    if place < 0 or not low <= address < low + len(code):
                        continue
                    same = sum(a == b for a, b in zip(read(low, len(code)), code))
                    if same > 0.7 * len(code):
                        ranges.append((low, low + len(code), name))
                        return name
            return "matrix products"

        for address, n in generated.most_common():
            kernels[look(address)] += n
    return kernels


def report(task, turn, named, kernels):
    step = turn["cpu"] / turn["steps"] * 1e6
    total = sum(named.values()) + sum(kernels.values())
    kinds = collections.Counter(named)
    for name, n in kernels.items():  # multiply_add_fusion.3 and .7 are of one kind
        kinds[re.sub(r"[.0-9]+(\.o)?$", "", name)] += n
    print(f"{task}: {turn['steps'] / turn['seconds']:.1f} steps a second, {step:.0f} µs of processor time each\n")
    print("| share | µs | what |\n|---:|---:|---|")
    for name, n in kinds.most_common():
        if n >= 0.005 * total:
            print(f"| {100 * n / total:.1f} % | {step * n / total:.0f} | {name} |")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
