"""Every metric, declared once as polars expressions; the docstring of each is its text on the page.

A metric is one decorated function in any module here: all are read when the package is.
"""

import importlib
import pkgutil

from evaluate.metrics.declaration import (
    Metric,
    Ratio,
    Requested,
    metric,
    metric_named,
    metrics,
    metrics_of,
    parse_metric,
)

__all__ = ["Metric", "Ratio", "Requested", "metric", "metric_named", "metrics", "metrics_of", "parse_metric"]

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
