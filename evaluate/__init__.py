"""The lake's items and chunks → runs, scores, aggregates: every ranking and every number is made here."""
