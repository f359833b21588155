"""Commands about jobs and what people request."""
