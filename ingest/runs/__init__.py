"""Import runs made elsewhere: from a file to rows of the lake.

| | |
|---|---|
| `request`, `importer` | the import that a user requests; the declaration of a format in `formats/` |
| `find_trajectories` | the format of a file; the trajectory files of a folder or ZIP |
| `ranking_rows`, `rankings` | checks of each row by itself; rankings and completions matched with their items |
| `sessions`, `calls/` | an agent's recorded session as a trajectory; the lines of files that each tool call showed |
| `read_trajectories`, `trajectory_rows` | all trajectories as columns, each with its item; then as rows of the lake |
| `resolve_paths` | the file that each path means, and the bytes of its lines |
| `imported_runs`, `importing` | an imported run in the lake and the import's summary; the import from end to end |

`program_runs` queries a program instead of reading a file; `bundled_runs` imports recorded runs and submissions.
"""
