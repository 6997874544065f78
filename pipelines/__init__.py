"""What is assembled and how it is started."""
