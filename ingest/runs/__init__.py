"""Runs made elsewhere, from a file to rows of the lake.

| | |
|---|---|
| `request`, `registry` | what is asked for, and which format of `formats/` a file is of |
| `find_trajectories` | which files of a folder or ZIP are trajectories |
| `ranking_rows`, `rankings`; `completions` | each row by itself, then every list, or every hole, with its item |
| `sessions`, `calls/` | a format tells the calls of tools in their order, and `calls` what each showed |
| `read_trajectories`, `trajectory_rows` | all trajectories as columns, each with its item, then as rows |
| `resolve_paths` | the file that each path means, and the bytes of lines |
| `imported_runs`, `importing`, `outcome` | what is written, the walk from end to end, and what is said of it |

`program_runs` asks a program in place of a file; `bundled_runs` and `submission` are about what lies beside the data.
"""
