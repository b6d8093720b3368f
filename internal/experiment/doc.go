// Package experiment is what the command's train, sample, eval, score and info do: it takes a person's data and settings to
// a trained model in a folder, and from there to samples, numbers and scores in the units of the data.
//
// A [Config] says everything about a training. Each of its fields is a key of a config file and a flag by the same name, made
// from the same tags, so that the three agree. [Train] opens the data, puts a value in place of every "auto", refuses what
// does not go together, and leaves in the folder
//
//	config.toml     all settings, as they were used: feeds back
//	summary.json    data, seed, versions, steps, loss
//	loss.csv .png   the loss of each step
//	checkpoints/    the two newest, with the pipeline that the data went through
//	samples/        drawn over time
//
// [Open] finds such a run again. Its methods Sample, Evaluate and Score undo the pipeline, so that what they return is in
// the units of the data.
//
// Files: config.go (Config), field.go (settings as text, for flags and files), configfile.go (TOML and YAML), choose.go (names, and
// what a mistyped one may have meant); builtin.go, openfile.go, dataset.go, pipeline.go (from a name or a file to training
// data); nets.go, objectives.go, samplers.go (what there is to choose from), resolve.go (what auto means); train.go, history.go,
// folder.go, versions.go (a run); run.go, sample.go, score.go, eval.go, compare.go, recognise.go, info.go (what is done with one); output.go, text.go,
// quote.go (files and lines).
package experiment
