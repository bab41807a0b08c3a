"""Work noted in Markdown as tags: found, approved, claimed by one, done."""
