// Package browser holds the browser test: JupyterLab on the notebooks, as a reader meets it, driven in a headless Chromium.
//
//	browser/setup                        installs Chromium and Node.js where they are missing, and playwright-core
//	go test -tags browser -v ./browser   the test; screenshots go to build/browser
//
// The test starts the server as "scorelab lab" does, on copies of notebooks. drive.mjs opens them, presses what a reader would
// press, and prints a line of JSON for each thing that it has looked at; each becomes a subtest. lab.mjs has the steps that it
// is made of.
package browser
