"""What queries and files say: tokens, the forms of a query, import statements."""
