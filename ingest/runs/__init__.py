"""Import runs made elsewhere: `importing` goes from a `request` and its file to an imported run of the lake.

1. `find_trajectories`: the file's format, one of `formats/` (declared as `importer` says), or a folder's files of it.
2. A format reads an agent's records as tool calls in their order (`sessions`); `calls/` give the lines of files that
   each call showed; together they are a `trajectory`, with its `usage`.
3. `trajectory_rows`, or for rankings and completions `rankings`: the rows of `run_items` and the other tables.
4. `ranking_rows`: the rows of a ranking, and the file, bytes and characters that any imported row means.

`program_runs` asks a program instead; `bundled_runs` imports recorded runs and submissions.
"""
