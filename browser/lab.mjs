// What a reader does in JupyterLab, as functions.

import { chromium } from "playwright-core";

// The longest that anything is waited for that is no part of what is measured: a busy machine is no mistake. Cells may take
// longer.
export const patience = 5 * 60_000;
const cellPatience = 20 * 60_000;

// launch starts the browser.
export function launch(program, asRoot) {
	return chromium.launch({ executablePath: program, args: asRoot ? ["--no-sandbox"] : [] });
}

// Notebook is an open notebook in a page.
export class Notebook {
	constructor(page) {
		this.page = page;
		this.cells = page.locator(".jp-Notebook .jp-CodeCell");
	}

	// open loads a notebook and waits until all of its code cells are there and its kernel has started.
	static async open(page, server, name, cells) {
		page.setDefaultTimeout(patience);
		await page.goto(`${server.address}/lab/tree/${name}?token=${server.token}&reset`);
		const book = new Notebook(page);
		await book.until(`${cells} code cells`, async () => (await book.cells.count()) === cells);
		await book.until("a kernel", async () => (await book.kernel()) !== "No Kernel");
		return book;
	}

	// until waits for a condition.
	async until(what, condition, most = patience) {
		if (!(await this.within(most, condition))) {
			throw new Error(`waited ${most / 1000} s in vain for ${what}`);
		}
	}

	// kernel is the name of the kernel in the toolbar.
	async kernel() {
		return (await this.page.locator(".jp-KernelName").first().innerText()).trim();
	}

	// menu chooses an entry of a menu.
	async menu(title, entry) {
		await this.page.locator(".lm-MenuBar-itemLabel", { hasText: new RegExp(`^${title}$`) }).click();
		await this.page.locator(".lm-Menu-itemLabel", { hasText: new RegExp(`^${entry}$`) }).click();
	}

	// prompt is what stands before a cell: "[ ]:", "[*]:" while it is executed or waits, "[3]:" afterwards.
	// Cells outside the window have a textContent only.
	async prompt(cell) {
		return (await this.cells.nth(cell).locator(".jp-InputArea-prompt").textContent()).trim();
	}

	// started asks for a cell to be executed until it is. JupyterLab loses what is asked for before it is connected to the kernel: the
	// cell waits, "[*]:", and is then as if it had never been executed, "[ ]:".
	async started(cell, ask) {
		for (let tries = 0; tries < 10; tries++) {
			const before = await this.prompt(cell);
			await ask();
			const seen = await this.within(10_000, async () => (await this.prompt(cell)) !== before);
			if (seen) {
				await this.within(5_000, async () => (await this.prompt(cell)) !== "[*]:");
			}
			if (seen && (await this.prompt(cell)) !== "[ ]:") {
				return;
			}
			await this.page.waitForTimeout(2_000);
		}
		throw new Error(`cell ${cell + 1} is not executed`);
	}

	// within waits for a condition and tells whether it came.
	async within(most, condition) {
		for (const end = Date.now() + most; Date.now() < end; await this.page.waitForTimeout(50)) {
			if (await condition()) {
				return true;
			}
		}
		return false;
	}

	// runAll executes all cells and waits until none is at work or waiting.
	async runAll() {
		// On a very busy machine what was asked for is lost even later.
		for (let tries = 0; tries < 3 && (tries === 0 || (await this.prompt(0)) === "[ ]:"); tries++) {
			await this.started(0, () => this.menu("Run", "Run All Cells"));
			await this.idle();
		}
	}

	// run executes one cell, counted from 0, and waits for its end unless told otherwise.
	async run(cell, wait = true) {
		await this.started(cell, async () => {
			await this.cells.nth(cell).locator(".cm-content").click();
			await this.page.keyboard.press("Control+Enter");
		});
		if (wait) {
			await this.idle();
		}
	}

	async idle(most = cellPatience) {
		await this.until("the cells to end", async () => !(await this.page.locator(".jp-Notebook .jp-InputArea-prompt").allTextContents()).some((p) => p.includes("*")), most);
	}

	// shown is the text of a cell's outputs.
	shown(cell) {
		return this.cells.nth(cell).locator(".jp-Cell-outputArea").textContent();
	}

	outputs(cell) {
		return this.cells.nth(cell).locator(".jp-OutputArea-child").count();
	}

	// pictures are the sizes of all pictures of the outputs: shown, of their own, as their element says, and of the room that
	// they have.
	async pictures() {
		const all = [];
		for (const picture of await this.page.locator(".jp-OutputArea-output img").all()) {
			await picture.scrollIntoViewIfNeeded();
			await this.until("a picture", () => picture.evaluate((e) => e.complete && e.clientWidth > 0));
			all.push(
				await picture.evaluate((e) => {
					const area = e.closest(".jp-OutputArea-output");
					return {
						width: e.clientWidth,
						height: e.clientHeight,
						natural: { width: e.naturalWidth, height: e.naturalHeight },
						meant: { width: Number(e.getAttribute("width")), height: Number(e.getAttribute("height")) },
						room: area.clientWidth,
						content: area.scrollWidth,
						ratio: window.devicePixelRatio,
					};
				}),
			);
		}
		return all;
	}

	async save() {
		await this.page.keyboard.press("Escape");
		const saved = this.page.waitForResponse((r) => r.request().method() === "PUT" && r.url().includes("/api/contents/"));
		await this.menu("File", "Save Notebook");
		await saved;
	}
}
