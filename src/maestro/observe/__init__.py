"""Transcripts as digests: what an agent says, whether it works, waits or is stuck, and how we know."""
