"""The commands of `python -m ingest`, and the module that declares each."""

from lake.console import stage_app

_COMMANDS = {
    "read": ("read", "own", "mine"),
    "runs": ("tasks", "run", "check", "submissions", "show"),
    "listing": ("list", "verify", "clean"),
}
app = stage_app("read", {name: f"ingest.commands.{module}" for module, names in _COMMANDS.items() for name in names})
