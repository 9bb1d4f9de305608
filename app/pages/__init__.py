"""The pages for people at `/audit`: the review queue, one verdict, the dashboard."""
