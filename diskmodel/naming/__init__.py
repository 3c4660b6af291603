"""What people call things: storage that is not modeled, and drives and controllers by part of their names."""
