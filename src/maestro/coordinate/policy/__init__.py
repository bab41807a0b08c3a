"""What may be answered without the human: `coordinate.config.json`."""
