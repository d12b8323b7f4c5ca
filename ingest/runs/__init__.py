"""Runs made elsewhere, from a file to rows of the lake.

| | |
|---|---|
| `request`, `importer` | what is asked for, and what a format of `formats/` is |
| `find_trajectories` | which format a file is of, and which files of a folder or ZIP are trajectories |
| `ranking_rows`, `rankings` | each row by itself, then every list, or a completion's hole, with its item |
| `sessions`, `calls/` | a format tells the calls of tools in their order, and `calls` what each showed |
| `read_trajectories`, `trajectory_rows` | all trajectories as columns, each with its item, then as rows |
| `resolve_paths` | the file that each path means, and the bytes of lines |
| `imported_runs`, `importing` | what is written and what is said of it, and the walk from end to end |

`program_runs` asks a program in place of a file; `bundled_runs` are those that lie beside the data, and submissions.
"""
