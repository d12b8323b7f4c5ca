"""Import runs made elsewhere: `importing` goes from a `request` and its file to an imported run of the lake.

1. `find_trajectories`: the file's format, one of `formats/` (declared as `importer` says), or a folder's files of it.
2. A format reads an agent's records as tool calls in their order (`sessions`); `calls/` give the lines of files that
   each call showed; together they are a `trajectory`, with its `usage`.
3. `read_trajectories`: all trajectories of the files as columns, each with its item.
4. `trajectory_rows`: the rows of `hits`, `run_items`, `edits` and `usage`, by `resolve_paths`: the file that each path
   means, and the bytes of its lines.
5. `imported_runs`: the run in the lake, part by part, and the summary of its import.

For rankings and completions, `ranking_rows` (each row by itself) and `rankings` (with its item) stand for 2 to 4.
`program_runs` asks a program instead of reading a file; `bundled_runs` imports recorded runs and submissions.
"""
