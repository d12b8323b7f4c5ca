"""What the page of methods counts and works out."""
