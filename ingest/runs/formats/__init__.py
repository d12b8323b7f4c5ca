"""One file per format of runs made elsewhere; each declares an `Importer`, by which it is found."""
