"""What this project computes, held value by value against what others computed of the same data: one file each."""
