"""The commands of `python -m report`."""

from lake.console import stage_app

app = stage_app("build", dict.fromkeys(("build", "serve", "list", "export", "publish"), "report.commands.build"))
