"""Writes the files that open_test.go reads back: files by the programs that people save their data with.

python make.py, in this folder, with numpy 2.4, pandas 3.1, pyarrow 26 and pillow 13. The tests know the values by formula:
row i, column j is ((7 i + 3 j) mod 11) - 5 + j/4, exact in all floats.
"""
import datetime
import decimal
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

i, j = np.mgrid[0:12, 0:3]
x = (7 * i + 3 * j) % 11 - 5 + j / 4
whole = (7 * i + 3 * j) % 11  # for integers
labels = np.arange(12) % 3

# NPY: the orders of bytes and of elements.
np.save("c.npy", x)
np.save("big.npy", x.astype(">f4"))
np.save("fortran.npy", np.asfortranarray(x))
with open("version2.npy", "wb") as f:
    np.lib.format.write_array(f, x, version=(2, 0))

# NPZ: every kind of number, what cannot be numbers, and images.
pixels = np.arange(2 * 4 * 5 * 3).reshape(2, 4, 5, 3).astype(np.uint8)
np.savez_compressed(
    "kinds.npz",
    **{t: (whole if t[0] in "iu" else x).astype(t) for t in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split()},
    be=whole.astype(">i2"), bool=whole > 5, vector=x[:, 0], labels=labels,
    complex=x.astype(complex), text=x.astype(str), object=x.astype(object), times=labels.astype("M8[s]"),
    record=np.zeros(12, dtype=[("a", "f4"), ("b", "i4")]), scalar=np.float64(3), empty=np.zeros((0, 3)),
    grey=pixels[..., 0], colour=pixels, fcolour=np.asfortranarray(pixels), first=pixels.transpose(0, 3, 1, 2),
    five=np.zeros((2, 1, 1, 1, 1)))
np.savez("one.npz", data=x)

# CSV.
frame = pd.DataFrame(x, columns=["a", "b, c", 'say "d"'])
frame["kind"] = np.array(["red", "green", "blue"])[labels]
frame.to_csv("pandas.csv", index=False, lineterminator="\r\n")
frame.to_csv("pandas.tsv.gz", index=False, sep="\t", compression={"method": "gzip", "mtime": 0})
frame.to_csv("excel.csv", index=False, sep=";", encoding="utf-8-sig")
np.savetxt("savetxt.txt", x, header="three columns")

# Parquet.
table = pa.table({
    "f64": x[:, 0], "f32": x[:, 1].astype(np.float32), "i64": whole[:, 0], "i32": whole[:, 1].astype(np.int32),
    "u8": whole[:, 2].astype(np.uint8), "u32": whole[:, 2].astype(np.uint32) + 2**31, "u64": whole[:, 0].astype(np.uint64) + 2**63,
    "i8": -whole[:, 0].astype(np.int8), "bool": whole[:, 1] > 5, "kind": frame["kind"], "class": labels + 4})
pq.write_table(table, "numbers.parquet", row_group_size=5)
pq.write_table(table, "zstd.parquet", compression="zstd", use_dictionary=False, data_page_version="2.0")
odd = pa.table({
    "x": pa.array([1.5, None, 2.5]), "nan": pa.array([1.0, float("nan"), 2.0]), "list": [[1.0], [2.0, 3.0], []],
    "struct": [{"a": 1.0, "b": 7.0}] * 3, "time": [datetime.datetime(2020, 1, 1)] * 3,
    "date": [datetime.date(2020, 1, 1)] * 3, "decimal": [decimal.Decimal("1.5")] * 3, "text": ["a", "b", "c"],
    "half": np.ones(3, dtype=np.float16), "kind": pa.array(["a", None, "b"])})
pq.write_table(odd, "odd.parquet")
pq.write_table(table.slice(0, 0), "empty.parquet")

# Images of every kind that PNG and JPEG have, and what PIL makes of them. Smooth, for the sake of JPEG and of resizing.
h, w = 12, 18
row, col = np.mgrid[0:h, 0:w]
red = 20 + 12 * col
green = 250 - 18 * row
blue = 6 * (row + col)
colour = np.stack([red, green, blue], -1).astype(np.uint8)
rgb = Image.fromarray(colour)
os.makedirs("images/colour", exist_ok=True)
os.makedirs("images/grey", exist_ok=True)
rgb.save("images/colour/rgb.png")
rgb.save("images/colour/rgb.jpg", quality=95, subsampling=0)  # how to spread coarser colours is left to the decoder
rgb.quantize(256).save("images/colour/palette.png")
clear = np.concatenate([colour, np.where(col < 9, 255, 0).astype(np.uint8)[..., None]], -1)
Image.fromarray(clear).save("images/colour/clear.png")
rgb.convert("L").save("images/grey/grey.png")
rgb.convert("L").save("images/grey/grey.jpeg", quality=95)
Image.fromarray((red.astype(np.uint16) * 257)).save("images/grey/deep.png")
rgb.convert("L").point(lambda v: 255 * (v > 128)).convert("1").save("images/grey/bits.png")
wanted = {}
for folder in ("colour", "grey"):
    for name in sorted(os.listdir("images/" + folder)):
        image = Image.open(f"images/{folder}/{name}")
        if name == "clear.png":
            white = Image.new("RGBA", image.size, "white")
            image = Image.alpha_composite(white, image)
        if name == "deep.png":
            image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
        stem = name.split(".")[0] + name.split(".")[1]
        mode = "RGB" if folder == "colour" else "L"
        wanted[stem] = np.asarray(image.convert(mode)).reshape(1, -1)
small = rgb.resize((9, 6), Image.BICUBIC)
middle = rgb.crop((3, 0, 15, 12)).resize((8, 8), Image.BICUBIC)
large = rgb.resize((36, 24), Image.BICUBIC)
wanted.update(l=np.asarray(rgb.convert("L")).reshape(1, -1), small=np.asarray(small).reshape(1, -1),
              middle=np.asarray(middle).reshape(1, -1), large=np.asarray(large).reshape(1, -1))
np.savez_compressed("images.npz", **wanted)
