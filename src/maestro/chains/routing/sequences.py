"""Several steps in one sentence that are a chain: “write the spec, then build it”. Data, pure."""

from __future__ import annotations

from typing import Final

from maestro.chains.routing.phrases import BUILD, PART, THEN, pattern

SEQUENCES: Final = (
    pattern(
        "debug", r"\bfind (?:out )?(?:the )?(?:root )?cause\b.*\b(?:fix|mend|repair|solve)\b|\bfind and fix\b"
    ),
    pattern("milestone-close", rf"\baudit\b.*{THEN}.*\b(?:complete|close|finish|archive)\b"),
    pattern(
        "brainstorm-driven",
        rf"^(?:brainstorm\w*|ideate|collect ideas|(?:come up with|find) (?:\w+ )*ideas?)\b.*{THEN}.*\b(?:{BUILD}|plan)\b",
        rf"^brainstorm\w* {PART}",
    ),
    pattern(
        "brainstorm-driven",
        r"\bfrom (?:an? |the )?idea to (?:an? |the )?(?:code|product|implementation|feature)",
    ),
    pattern(
        "ui-design-driven",
        rf"^(?:(?:ui|ux)[ -])?(?:design|mock ?up|wireframe|sketch)\b.*{THEN}\s*(?:then )?(?:\w+ )?{BUILD}\b",
        r"\b(?:schema|database|api|architecture|data model|protocol)\b",
    ),
    pattern(
        "spec-driven",
        rf"\b(?:spec|specs|specification|specifications|prd|requirements)\b.*{THEN}\s*(?:then )?(?:\w+ )?{BUILD}\b",
        rf"^(?:implement|execute|add)\b|\bspecs? {PART}",
    ),
    pattern(
        "spec-driven",
        r"\b(?:start|begin|work|build\b.*)\s?(?:from|with) an? (?:\w+ )?(?:spec|specification|prd)\b",
    ),
    pattern("spec-driven", r"\bspec(?:ification)?[- ](?:first|driven)\b"),
    pattern(
        "roadmap-driven",
        rf"\broadmap\b.*{THEN}\s*(?:then )?(?:\w+ )?(?:{BUILD}|start|work|go|begin)\b",
        rf"^(?:implement|add)\b|\broadmap {PART}",
    ),
    pattern("roadmap-driven", r"\broadmap[- ](?:first|driven)\b"),
    pattern(
        "roadmap-driven",
        r"^(?:build|create|make|develop|write|code|start)\b.*\b(?:app|application|website|site|game|platform|product|saas|shop|service|tool|system|bot)\b.*\bfrom (?:scratch|zero|the ground up)",
    ),
    pattern(
        "full-lifecycle",
        r"\bfull[- ](?:life ?-?cycle|cycle|pipeline|workflow|process)\b|\b(?:whole|entire|complete) life ?-?cycle\b",
    ),
    pattern(
        "full-lifecycle",
        r"\bfrom (?:the )?(?:plan|planning|start|beginning) to (?:the )?(?:release|finish|end|close|closing|done|production|ship\w*|complet\w+|delivery)\b|"
        r"\bphase \d+\b.*\ball the way\b|\ball the way\b.*\bphase\b|\bstart to finish\b",
    ),
    pattern("full-lifecycle", r"\bplan\b.*\bexecute\b.*\bverify\b.*\b(?:review|test|complete|close)"),
    pattern(
        "quality-loop",
        r"\bquality[- ](?:loop|cycle|round|check|pass)\b|"
        r"\b(?:review|check|test|verify)\b.*(?:\band|then)\s+(?:fix|mend|repair|correct)\s+(?:everything|all|whatever|what|any|the (?:findings|gaps|problems|issues))",
    ),
    pattern(
        "execute-verify",
        rf"^(?:execute|run|carry out|implement|do|build)\b(?:.*\b(?:plan|phase(?: \d+)?|it|tasks))?\s*{THEN}.*\b(?:verify|check|validate)\b",
    ),
    pattern("analyze-plan-execute", rf"^analy[sz]e\b.*{THEN}.*\bplan\b.*{THEN}.*\b{BUILD}\b"),
    pattern("analyze-plan-execute", rf"^plan (?:and|then|and then|&) {BUILD}\b", r"\bphase\b"),
)
