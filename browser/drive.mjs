// Drives JupyterLab and prints one line of JSON for each thing that it has looked at: its name, what is wrong with it, and
// what was seen. The job is a line of JSON on standard input.

import { mkdirSync, readFileSync } from "node:fs";
import { Notebook, launch } from "./lab.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
mkdirSync(job.pictures, { recursive: true });
const browser = await launch(job.chromium, job.root);

const tell = (check, failed, seen = "") => console.log(JSON.stringify({ check, failed, seen }));

// look looks at one thing: what the function returns was seen, what it throws is wrong.
async function look(check, f) {
	try {
		tell(check, "", (await f()) ?? "");
	} catch (error) {
		tell(check, String(error.message ?? error).slice(0, 2000));
	}
}

function must(holds, otherwise) {
	if (!holds) {
		throw new Error(otherwise);
	}
}

// visit opens a notebook in a window of its own, shows it to the function, and takes a picture in the end, whatever happened.
async function visit(name, cells, f) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
	try {
		await f(await Notebook.open(page, job, `${name}.ipynb`, cells), (as) => page.screenshot({ path: `${job.pictures}/${as}.png` }));
	} catch (error) {
		tell(`${name} to its end`, String(error.stack ?? error).slice(0, 2000));
	} finally {
		await page.screenshot({ path: `${job.pictures}/${name}-end.png` }).catch(() => {});
		await page.close();
	}
}

// sizes checks pictures in a window with room for them, or in one without.
function sizes(pictures, count) {
	must(pictures.length === count, `${pictures.length} pictures, want ${count}`);
	for (const p of pictures) {
		const seen = JSON.stringify(p);
		must(p.content <= p.room, `wider than its room: ${seen}`);
		must(p.width <= p.meant.width, `larger than it is meant to be: ${seen}`);
		must(p.width * p.ratio <= p.natural.width, `blurred, as it is shown larger than it is: ${seen}`);
		must(Math.abs(p.height / p.width - p.natural.height / p.natural.width) < 0.02, `out of shape: ${seen}`);
	}
	return pictures.map((p) => `${p.width}×${p.height} of ${p.natural.width}×${p.natural.height}`).join(", ");
}

await visit("saved", job.cells.saved, async (book) => {
	await look("open and save", () => book.save());
});

await visit("00-tour", job.cells["00-tour"], async (book, picture) => {
	const last = job.cells["00-tour"] - 1;
	await look("name of the kernel", async () => {
		const name = await book.kernel();
		must(name === "Go (scorekit)", `kernel ${name}`);
		return name;
	});
	await look("all cells", async () => {
		const begin = Date.now();
		await book.runAll();
		for (let cell = 0; cell <= last; cell++) {
			const prompt = await book.prompt(cell);
			must(/^\[\d+\]:$/.test(prompt), `cell ${cell + 1} has the prompt ${prompt}`);
		}
		const wrong = await book.page.locator('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]').allTextContents();
		must(wrong.length === 0, wrong.join("\n"));
		return `${last + 1} cells in ${((Date.now() - begin) / 1000).toFixed(0)} s`;
	});
	await look("last check", async () => {
		const checks = (await book.page.locator(".jp-OutputArea-output", { hasText: "✓" }).allTextContents()).map((t) => t.trim());
		const shown = await book.shown(last);
		must(shown.includes("✓"), `the last cell shows no check that held: ${shown}`);
		return `${checks.length} checks held; the last: ${checks.at(-1)}`;
	});
	await look("one line of progress", async () => {
		const lines = await book.cells.locator(".jp-OutputArea-output", { hasText: /(training|sampling) [\d,]+\/[\d,]+/ }).allTextContents();
		must(lines.length === job.progress, `${lines.length} lines, want ${job.progress}: ${lines}`);
		return lines.map((l) => l.trim()).join("; ");
	});
	await look("pictures in a wide window", async () => {
		const all = await book.pictures();
		const seen = sizes(all, job.shownPictures);
		for (const p of all) {
			must(p.width === p.meant.width, `smaller than it is meant to be: ${JSON.stringify(p)}`);
		}
		return seen;
	});
	await picture("00-tour");
	await look("pictures in a window of 700", async () => {
		await book.page.setViewportSize({ width: 700, height: 900 });
		await book.page.waitForTimeout(1000);
		const seen = sizes(await book.pictures(), job.shownPictures);
		await picture("00-tour-700");
		await book.page.setViewportSize({ width: 1280, height: 900 });
		return seen;
	});
	await look("save after a run", () => book.save());
	await look("logo of the kernel", async () => {
		await book.menu("File", "New Launcher");
		const card = book.page.locator(".jp-LauncherCard", { hasText: "Go (scorekit)" }).first();
		const logo = card.locator("img");
		await book.until("the logo", () => logo.evaluate((e) => e.complete && e.naturalWidth > 0));
		const width = await logo.evaluate((e) => e.naturalWidth);
		must(width === 64, `${width} pixels wide`);
		await picture("launcher");
		return `${width} pixels`;
	});
});

await visit("mistakes", job.cells.mistakes, async (book, picture) => {
	const place = (shown, line, message) => {
		must(line.test(shown), `no ${line}: ${shown}`);
		must(shown.includes(message), `no ${message}: ${shown}`);
		must(!/\/tmp|gonb_|Line 0/.test(shown), `something of no use to a reader: ${shown}`);
		return shown.match(line)[0];
	};
	await look("error of the compiler", async () => {
		await book.runAll();
		return place(await book.shown(0), /Cell\[\d+\]: Line 4/, "cannot use");
	});
	await look("nothing is executed after an error", async () => {
		must((await book.prompt(1)) === "[ ]:" && (await book.shown(2)) === "", "the cells after it were executed");
	});
	await picture("compiler");
	await look("panic", async () => {
		await book.run(1);
		const shown = await book.shown(1);
		place(shown, /Cell \[\d+\] Line 9/, "index out of range");
		return place(shown, /Cell \[\d+\] Line 4/, "exit status 2");
	});
	await picture("panic");
	await look("a cell after it", async () => {
		await book.run(2);
		must((await book.shown(2)).includes("executed"), await book.shown(2));
	});
	if (job.gopls) {
		await look("completion by Tab", async () => {
			// The imports of a cell that was executed are known from then on.
			await book.run(3);
			const line = book.cells.nth(4).locator(".cm-line").last();
			let names = [];
			await book.until("names", async () => {
				await line.click();
				await book.page.keyboard.press("End");
				await book.page.keyboard.press("Tab");
				await book.page.waitForTimeout(3000);
				names = (await book.page.locator(".jp-Completer-item").allInnerTexts()).map((t) => t.trim().split(/\s/)[0]);
				if (names.length === 0) {
					await book.page.keyboard.press("Escape");
				}
				return names.length > 0;
			});
			await picture("completion");
			must(names.includes("Adam"), `names ${names}`);
			return `${names.length} names: ${names.slice(0, 5)} …`;
		});
	}
});

await visit("interrupted", job.cells.interrupted, async (book, picture) => {
	const steps = async () => {
		const m = (await book.shown(1)).match(/training ([\d,]+)\//);
		return m ? Number(m[1].replaceAll(",", "")) : 0;
	};
	let stopped = 0;
	await look("interrupt", async () => {
		await book.started(0, () => book.menu("Run", "Run All Cells"));
		await book.until("a hundred steps", async () => (await steps()) > 100);
		must((await book.outputs(1)) === 1, `${await book.outputs(1)} outputs of a cell that only shows progress`);
		await picture("training");
		const begin = Date.now();
		await book.page.locator('[data-command="notebook:interrupt-kernel"], .jp-ToolbarButtonComponent[title*="Interrupt"]').first().click();
		await book.until("the cell to stop", async () => /^\[\d+\]:$/.test(await book.prompt(1)));
		const took = (Date.now() - begin) / 1000;
		const shown = await book.shown(1);
		await picture("interrupted");
		// GoNB kills what has not ended by itself after 5 s.
		must(!shown.includes("killed"), `it was killed: ${shown}`);
		const m = shown.match(/stopped after step (\d+) of/);
		must(m, `it does not say that it was stopped: ${shown}`);
		stopped = Number(m[1]);
		must(took < 5, `stopped only after ${took} s`);
		return `stopped in ${took.toFixed(2)} s, after step ${stopped}`;
	});
	await look("nothing is executed after an interrupt", async () => {
		await book.idle();
		must((await book.shown(2)) === "", await book.shown(2));
	});
	await look("the checkpoint is there", async () => {
		await book.run(3);
		const shown = await book.shown(3);
		const m = shown.match(/went on to step (\d+)/);
		must(m && Number(m[1]) > stopped && Number(m[1]) < stopped + 1000, `stopped after step ${stopped}, then: ${shown}`);
		return `${shown.trim()}, after a stop at step ${stopped}`;
	});
	await look("restart while a cell is at work", async () => {
		// The folder has a checkpoint now, which a run that does not resume refuses: this cell goes on from it.
		await book.run(4, false);
		await book.until("a cell at work", async () => /training/.test(await book.shown(4)));
		await book.menu("Kernel", "Restart Kernel…");
		await book.page.locator(".jp-Dialog .jp-mod-warn, .jp-Dialog .jp-mod-accept").last().click();
		await book.until("the restart", async () => (await book.prompt(4)) !== "[*]:");
		await book.run(3);
		must(/undefined: (network|settings|noisy)/.test(await book.shown(3)), `the kernel still knows what it was told before: ${await book.shown(3)}`);
		await book.run(0);
		await book.run(3);
		must(/went on to step/.test(await book.shown(3)), await book.shown(3));
		await picture("restarted");
		return "forgotten, declared again, and gone on";
	});
});

await browser.close();
