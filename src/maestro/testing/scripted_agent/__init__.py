"""A coding agent that plays a script: for demos, for authors of plugins, for end-to-end tests.

    python -m maestro.testing.scripted_agent --script FILE|- [--session-id UUID | --resume UUID] [--cwd DIR]
        [--prompt TEXT] [--speed X] [--set NAME=VALUE]… [--seed N] [--imitate claude|codex|gemini] [--settings FILE]

It writes a transcript in Claude Code's format under `$CLAUDE_CONFIG_DIR` (else `$HOME/.claude`). On a terminal
it draws a screen and takes keys as Claude Code does, or as the CLI does that `--imitate`, MAESTRO_IMITATE or the
script's `imitate` names: its dialogs, its input box, its pane title. Without a terminal it prints plain lines and
takes each line of its input as a prompt or an answer (end of input: nothing more comes). `--speed` multiplies every
duration: 0 plays without delays, 2 takes twice as long. `--resume` goes on with a session whose steps were played. `--seed`
makes ids and verbs the same every time. `--settings` is a settings file of Claude Code: its hooks are run as that
does, and a PermissionRequest hook may answer the dialog on the screen. A command in the box's shell mode is
recorded as `<bash-input>`, and never run.

The script is a JSON object:

    {"name": "fixer", "steps": [STEP, …], "on_prompt": [STEP, …], "model": "…", "placeholder": "…",
     "imitate": "claude", "notify_after": 6, "idle_after": 60, "hookless": false}

`steps` are played at once. `on_prompt` is then played for each further prompt; without it the agent exits with
0, or on a terminal idles at its box, until Ctrl-C twice, `/exit`, SIGTERM or SIGHUP. Only `steps` is required;
with `hookless` no hook is run, as by a CLI that nobody gave any.
A STEP is an object with one key:

    {"say": "text"}                  what the assistant says
    {"think": "text"}                a thinking block: in the transcript only
    {"tool": {"name": "Read", "input": {…}, "result": "…", "seconds": 2, "is_error": false}}
    {"work": 3}                      three seconds of spinner
    {"run": ["maestro", "task", "report", "progress", "${task}", "half way"]}
                                     a real command, recorded as a call of Bash; its failure is recorded, too
    {"ask": {"question": "…", "header": "…", "options": [{"label": "…", "description": "…"}, "label", …],
             "multi": false, "answers": {"label": [STEP, …], "*": [STEP, …], "(declined)": [STEP, …]}}}
                                     waits for the answer, then plays its branch; `*` is any other answer; of
                                     several answers the branch is named as they are joined: "one, two".
                                     An option may have a "preview"; `"free_text": true` stands for options
    {"ask": {"questions": [{"question": …, "header": …, "options": …, "multi": …}, …], "answers": {"one; two": […]}}}
                                     several questions in one dialog
    {"permission": {"command": "rm -r build", "description": "…", "result": "…", "seconds": 1,
                    "options": ["Yes", "Yes, and …", "No"], "file": "…",
                    "answers": {"yes": [STEP, …], "always": […], "no": […], "*": […]}}}
                                     with `file` it would write that file, and the command is its content
    {"plan": {"plan": "…", "answers": {"yes": [STEP, …], "no": […], "*": […]}}}
                                     `*` is what shall be changed
    {"background": {"description": "…", "seconds": 3, "result": "…"}}
                                     ends the turn while an agent of its own still works; its end begins the next
    {"dialog": "trust"}              what the CLI itself asks, before the first prompt: trust, bypass, key, hooks
    {"api_error": {"status": 500, "text": "…", "retrying": 4}}
                                     fails the turn, after so many seconds of "Retrying in"
    {"limit": {"text": "…", "resets": "3pm"}}
                                     fails the turn with a usage limit
    {"wait": true}                   ends the turn and idles until a prompt comes
    {"silent": {"calls": 12, "seconds": 5, "tool": "Read"}}
                                     calls of a tool, so many seconds each, without a word
    {"usage": {"input_tokens": 900, "output_tokens": 50, "cache_read_input_tokens": 0,
               "cache_creation_input_tokens": 0}}
                                     the token numbers of the messages that follow
    {"compact": "auto"}              empties its context, as Claude Code does: its hooks run before and after
    {"exit": 3}                      ends the agent with this exit code

In `say` and `run`, `${name}` is replaced from `--set`, from the environment, and from the play itself:
`${prompt}` and `${answer}` are the last ones, `${session_id}` and `${cwd}` the session's.

A turn begins with a prompt or with the first step that does something, and ends before `wait`, after
`api_error` and `limit`, and after the last step. Esc, and "No" to a permission, end it as well: the agent idles
until a prompt comes and goes on with the next step. Esc before any reply puts the prompt back into Claude Code's box.
A script that is not right is refused with one sentence and exit code 2 before anything is written.
"""
