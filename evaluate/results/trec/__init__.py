"""Any ranking scored against any relevance judgements, from two files and without a lake, as trec_eval does."""
