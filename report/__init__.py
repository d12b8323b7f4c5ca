"""Report: the lake as pages, charts and downloads that work from any folder, any web host and a USB stick."""
