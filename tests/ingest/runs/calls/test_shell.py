import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.runs.calls.shell import parse_shell_call
from ingest.runs.trajectory import FileSpan

WHOLE = FileSpan("a.py", 1, None)


def views_of(
    command: str | list[str], output: str | None = None, *, failed: bool = False, folder: str = ""
) -> list[FileSpan]:
    return list(parse_shell_call(command, output, failed=failed, folder=folder).views)


PRINTED = [
    ("cat a.py", [WHOLE]), ("cat -n a.py b.py", [WHOLE, FileSpan("b.py", 1, None)]),
    ("cat 'my file.py'", [FileSpan("my file.py", 1, None)]), ("sed -n 3,9p a.py", [FileSpan("a.py", 3, 9)]),
    ("sed -n '3,9p;20,$p' a.py", [FileSpan("a.py", 3, 9), FileSpan("a.py", 20, None)]),
    ("sed -n -e 3p -e '5,+2p' a.py", [FileSpan("a.py", 3, 3), FileSpan("a.py", 5, 7)]),
    ("sed -ne '3,9p' < a.py", [FileSpan("a.py", 3, 9)]), ("sed 9q a.py", [FileSpan("a.py", 1, 9)]),
    ("sed -n '/def burn/,/return/p' a.py", [FileSpan("a.py")]), ("sed -i 's/a/b/' a.py", []),
    ("nl -ba a.py | sed -n '3,9p'", [FileSpan("a.py", 3, 9)]), ("head a.py", [FileSpan("a.py", 1, 10)]),
    ("head -n 7 a.py", [FileSpan("a.py", 1, 7)]), ("head -7 a.py", [FileSpan("a.py", 1, 7)]),
    ("head -c 7 a.py", [FileSpan("a.py")]), ("tail -n +7 a.py", [FileSpan("a.py", 7, None)]),
    ("tail -n 7 a.py", [FileSpan("a.py")]), ("head -n 30 a.py | tail -n 7", [FileSpan("a.py", 24, 30)]),
    ("cat a.py | head -20 | tail -n +5", [FileSpan("a.py", 5, 20)]),
    ("tail -n +100 a.py | head -n 20", [FileSpan("a.py", 100, 119)]),
    ("awk 'NR>=3 && NR<=9' a.py", [FileSpan("a.py", 3, 9)]),
    ("awk 'NR==3,NR==9{print NR\": \"$0}' a.py", [FileSpan("a.py", 3, 9)]),
    ("cat a.py b.py | head -3", [FileSpan("a.py", 1, 3)]),
    ("sed -n 1,3p a.py b.py", [FileSpan("a.py", 1, 3)]), ("head -qn 3 a.py", [FileSpan("a.py", 1, 3)]),
    ("cat a.py b.py | tail -3", [FileSpan("a.py"), FileSpan("b.py")]), ("cat a.py | grep burn", [FileSpan("a.py")]),
    ("head -n 5 a.py | tail -n +9", []), ("sed -n '9,3p' a.py", [FileSpan("a.py", 9, 9)]),
    ("awk '{ if (NR >= 3 && NR <= 9) { print } }' a.py", [FileSpan("a.py", 3, 9)]),
    ("awk 'NR>=7' a.py", [FileSpan("a.py", 7, None)]), ("awk 'NR==3{print;exit}' a.py", [FileSpan("a.py", 3, 3)]),
    ("awk 'NR<7 {print NR\": \"$0}' a.py", [FileSpan("a.py", 1, 6)]),
    ("head -3 a.py | jq .", [FileSpan("a.py", 1, 3)]), ('F=a.py; sed -n 3,9p "$F"', [FileSpan("a.py", 3, 9)]),
    ("git show HEAD~1:a.py | head -n 5", [FileSpan("a.py", 1, 5)]),
    ("git -C lib --no-pager show HEAD:a.py", [FileSpan("lib/a.py", 1, None)]),
    ("cd lib && git show HEAD:./a.py", [FileSpan("lib/a.py", 1, None)]),
    ("{ cat a.py; head -3 b.py; } | less", [WHOLE, FileSpan("b.py", 1, 3)]),
    ("sed -n 's/a/b/p' a.py", [FileSpan("a.py")]), ('sed -n "$range" a.py', [FileSpan("a.py")]),
    ("grep -n burn a.py", [FileSpan("a.py")]), ("grep -rn burn src", []), ("cat +7.py", [FileSpan("+7.py", 1)]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "views"), PRINTED)
def test_what_is_printed_is_seen(command: str, views: list[FileSpan]) -> None:
    assert views_of(command) == views


NOT_PRINTED = [
    "cat a.py > b.py", "cat a.py &> /dev/null", "cat a.py | wc -l", "cat > a.py <<'EOF'\ncat b.py\nEOF",
    "echo 'cat a.py'", "# cat a.py", "cat $FILE", "cat *.py", "grep -c burn a.py", "grep -q burn a.py", "ls -la src",
    "python a.py", "", "cat 'a.py", "cat a.py | python b.py", "if test -f a.py; then wc -l a.py; fi",
    "show() { cat a.py; }", "git diff --stat", "find . -name a.py", "rg --files src",
    "cat <<'A' > a.py && cat <<'B' > b.py\ncat c.py\nA\ncat d.py\nB", "bash -c 'cat a.py' > b.py", "sed -n '$=' a.py",
    "sed -n 's/p/q/' a.py", "cat a.py | awk 'BEGIN {n = 0} END {print NR}'",
    "cat a.py | python -m json.tool > /dev/null", "cat a.py 1> /dev/null 2>&1", "grep -n burn a.py | grep -q x",
    "cat a.py | grep -q burn", "rg --quiet burn a.py", "[[ -s a.py ]]", "echo $(cat a.py)",
]  # fmt: skip


@pytest.mark.parametrize("command", NOT_PRINTED)
def test_what_is_not_printed_is_not_seen(command: str) -> None:
    assert views_of(command) == []
    assert views_of(f"{command} && echo done", "120\ndone") == []


IN_A_LINE = [
    "bash -lc 'cat a.py'", ["bash", "-lc", "cat a.py"], ["cat", "a.py"], "sudo -u root timeout 10 cat a.py",
    "env -u X stdbuf -oL cat a.py", "LANG=C cat a.py 2>/dev/null", "cat a.py 2>&1", "(cat a.py)",
    "true && cat a.py || echo no", "cat a.py | cat | cat || true",
    "cat \\\n  a.py", "cat <<X\nx\nX\ncat a.py", "ls; cat a.py & # and so on", "cat a.py; cat a.py",
]  # fmt: skip


@pytest.mark.parametrize("command", IN_A_LINE)
def test_a_command_is_found_in_its_line(command: str | list[str]) -> None:
    assert views_of(command) == [WHOLE]


def test_paths_start_from_the_folder_that_a_line_goes_to() -> None:
    in_folder, above, outside = (FileSpan(path, 1, None) for path in ("src/a.py", "b.py", "/c.py"))
    assert views_of("cd src && cat a.py ../b.py /c.py") == [in_folder, above, outside]
    assert views_of("cd src && cat a.py 2>&1 | cat | cat") == [in_folder]
    assert views_of("cd src && cat a.py | cat | cat && cat /c.py | cat | cat || true") == [in_folder, outside]
    assert views_of("cd src; cd x; cat a.py", folder="/testbed") == [FileSpan("/testbed/src/x/a.py", 1, None)]


@pytest.mark.parametrize(
    ("command", "output", "views"),
    [
        ("grep -rn burn src", "src/a.py:3:x\nsrc/a.py:4:y\nsrc/b.py:9:z",
         [FileSpan("src/a.py", 3, 4), FileSpan("src/b.py", 9, 9)]),
        ("rg -n -C1 burn", "a-1.py-2-x\na-1.py:3:y\na-1.py-4-z", [FileSpan("a-1.py", 2, 4)]),
        ("grep -n burn a.py", "3:x\n4-y\n--\n9:z", [FileSpan("a.py", 3, 4), FileSpan("a.py", 9, 9)]),
        ("grep burn a.py", "self.x: int", [FileSpan("a.py")]),
        ("grep -n burn a.py", "", []),
        ("rg burn", "src/a.py:x.y = 1\nMakefile: no", [FileSpan("src/a.py")]),
        ("rg -l burn", "src/a.py\nsrc/b.py", []),
        ("rg -c burn", "src/a.py:3", []),
        ("grep -n burn Makefile", "3:x\n9:12:y", [FileSpan("Makefile", 3, 3), FileSpan("Makefile", 9, 9)]),
        ("grep -n burn a.py; grep -n fly a.py", "3:x\n9:y", [FileSpan("a.py", 3, 3), FileSpan("a.py", 9, 9)]),
        ("grep burn a.py", "3: the text itself", [FileSpan("a.py")]),
        ("grep -n burn src/*.py", "src/a.py:3:x", [FileSpan("src/a.py", 3, 3)]),
        ("rg burn src", "src/a.py\n3:x\n\nsrc/b.py\n9:z", [FileSpan("src/a.py", 3, 3), FileSpan("src/b.py", 9, 9)]),
        ("grep -r burn /testbed", "/testbed/src/a.py:x", [FileSpan("/testbed/src/a.py")]),
        ("rg -n burn a.py", "[cut by someone]", []),
        ("rg -n burn src", "src/a.py:3:x\nother text:7:\nlib/b.py:9:z", [FileSpan("src/a.py", 3, 3)]),
        ("find . -name '*.py' | xargs grep -n burn /dev/null", "./a.py:3:x", [FileSpan("a.py", 3, 3)]),
        ("find . -name '*.py' -exec grep -Hn burn {} +", "./a.py:3:x", [FileSpan("a.py", 3, 3)]),
        ("grep -n burn a.py | wc -l", "3", []),
        ("rg -n burn", "\x1b[35msrc/a.py\x1b[0m:\x1b[32m3\x1b[0m:x", [FileSpan("src/a.py", 3, 3)]),
        ("cat a.py | grep -n burn", "3:x", [FileSpan("a.py", 3, 3)]),
        ("cat a.py | grep -n burn | head -3", "3:x\n9:y", [FileSpan("a.py", 3, 3), FileSpan("a.py", 9, 9)]),
        ("sed -n '11,20p' a.py | grep -n burn", "3:x", [FileSpan("a.py", 13, 13)]),
        ("git grep -n burn -- 'src/*.py'", "src/a.py:3:x", [FileSpan("src/a.py", 3, 3)]),
        ("grep -n '|' a.py | head -2", "3:x|y", [FileSpan("a.py", 3, 3)]),
        ("grep -n a a.py; grep -n b b.py", "3:a\n4:b", [FileSpan("a.py"), FileSpan("b.py")]),
        ("cd src && grep -rn burn .", "./a.py:3:x", [FileSpan("src/a.py", 3, 3)]),
        ("rtk --ultra-compact grep -n burn a.py", "3:x", [FileSpan("a.py", 3, 3)]),
    ],
)  # fmt: skip
def test_a_search_is_what_its_output_lists(command: str, output: str, views: list[FileSpan]) -> None:
    assert views_of(command, output) == views


A3, B9 = FileSpan("a.py", 3, 3), FileSpan("b.py", 9, 9)


@pytest.mark.parametrize(
    ("command", "output", "views"),
    [
        ("grep -n a a.py; echo '== b =='; grep -n b b.py", "3:a\n== b ==\n9:b", [A3, B9]),
        ('grep -n a a.py && printf "\\n---\\n" && grep -n b b.py', "3:a\n\n---\n9:b", [A3, B9]),
        ("echo 1; grep -n a a.py; echo; echo -e '\\n2'; cat b.py | grep -n b", "1\n3:a\n\n\n2\n9:b", [A3, B9]),
        ("cd x; echo --; cat a.py 2>/dev/null; echo --; cat b.py", "--\n--\ntext", [FileSpan("x/b.py", 1, None)]),
        # A text may also stand in a file, be cut off, or be known to the shell alone.
        ("grep -n a a.py; echo --; grep -n b b.py", "3:a\n--\n4:a\n--\n9:b", [FileSpan("a.py"), FileSpan("b.py")]),
        ("grep -n a a.py; echo --; grep -n b b.py", "3:a\n[cut]\n9:b", [FileSpan("a.py"), FileSpan("b.py")]),
        ("grep -n a a.py; echo $X; grep -n b b.py", "3:a\n--\n9:b", [FileSpan("a.py"), FileSpan("b.py")]),
    ],
)  # fmt: skip
def test_texts_echoed_between_commands_part_their_output(command: str, output: str, views: list[FileSpan]) -> None:
    assert views_of(command, output) == views


def test_of_parts_of_a_line_only_the_last_failed() -> None:
    assert views_of("sed -n 3p a.py; echo --; cat b.py", "x\n--", failed=True) == [A3]


MISSING = "cat: b.py: No such file or directory"
B = FileSpan("b.py", 1, None)
TOLD = [
    # Lines that are printed with their numbers are those.
    ("nl -ba a.py | sed -n '1,9p'", "     1\tx\n     2\t\n     3\ty\n", False, [FileSpan("a.py", 1, 3)]),
    ("cat -n a.py | grep x", "     4\tx\n    31\tx\n", False, [FileSpan("a.py", 4, 4), FileSpan("a.py", 31, 31)]),
    ("cat -n a.py", "[cut by someone]", False, [WHOLE]), ("cat a.py", "     7\ta column of numbers\n", False, [WHOLE]),
    ("nl a.py | sed -n '3,9p'", "     2\tx\n     3\ty\n", False, [FileSpan("a.py", 3, 9)]),
    # A command that failed shows nothing, and of several those that could be read.
    ("cat a.py", f"x\n{MISSING}", True, []), ("cat a.py && cat b.py", f"x\n{MISSING}", True, [WHOLE]),
    ("cat a.py b.py", f"x\n{MISSING}", False, [WHOLE]), ("cat a.py b.py", f"x\n{MISSING}", True, [WHOLE]),
    ("head -n 3 a.py lib", "x\nhead: error reading 'lib': Is a directory", True, [FileSpan("a.py", 1, 3)]),
    ("cat b.py c.py", f"{MISSING}\ncat: c.py: No such file or directory", True, []),
    ("cat a.py b.py", "Killed", True, []), ("cat a.py lib.py", "cat: lib.py: No such file", False, [WHOLE]),
    ("cd src && cat a.py", "", True, []), ("cat a.py && pytest", "1 failed", True, [WHOLE]),
    ("grep x a.py", "Exit code 2", True, []), ("grep x a.py; pytest", "1 failed", True, [FileSpan("a.py")]),
    # Only the text tells it; a file that is printed whole without a word is an empty one.
    ("sed -n 1,9p a.py", "sed: can't read a.py: No such file or directory", False, []),
    ("sed -n 400,500p a.py", "", False, []), ("cat a.py 2>/dev/null", "", False, []), ("cat a.py", "", False, [WHOLE]),
    ("cat a.py", "    raise OSError('a.py: No such file or directory')", False, [WHOLE]),
    # After a failed command of a chain nothing more ran; the other side of an or only where the first showed nothing.
    ("make && cat a.py", "make: *** [all] Error 2", True, []), ("make; cat a.py", "x", True, [WHOLE]),
    ("cat a.py && make", "x\nmake: *** [all] Error 2", True, [WHOLE]), ("cat a.py || cat b.py", "x", False, [WHOLE]),
    ("cat a.py || cat b.py", "cat: a.py: No such file or directory\nx", False, [B]),
    ("tail -3 a.py b.py", "tail: option used in invalid context -- 3", False, []),
    ("cat a.py", "cat: a.py: Input/output error", False, []),
    ("[ -f a.py ] && cat a.py || echo none", "none", False, []), ("if [ 1 ]; then cat a.py; fi", "x", False, [WHOLE]),
    ("grep -rn x src 2>/dev/null || cat b.py", "src/a.py:3:x", False, [FileSpan("src/a.py", 3, 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output", "failed", "views"), TOLD)
def test_what_failed_or_did_not_run_is_not_seen(command: str, output: str, failed: bool, views: list[FileSpan]) -> None:
    assert views_of(command, output, failed=failed) == views


@pytest.mark.parametrize(
    "line",
    [
        "cat a.py 2>/dev/null || cat b.py",
        "[ 1 ] && cat a.py || cat b.py",
        "if [[ 1 ]]; then cat a.py; else cat b.py; fi",
    ],
)
def test_if_only_the_shell_knew_which_of_two_commands_ran_none_is_read(line: str) -> None:
    parsed = parse_shell_call(line, "x")
    assert (parsed.views, parsed.unread) == ((), ("command cat or the one before it",))


def test_a_diff_shows_the_lines_of_its_hunks_as_they_are_afterwards() -> None:
    diff = (
        "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n"
        "@@ -3,3 +3,4 @@ def f():\n x\n-y\n+z\n+--- w\n v\n@@ -20 +21 @@\n-q\n+r\n"
        "diff --git a/old.py b/old.py\n--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n"
    )
    expected = [FileSpan("src/a.py", 3, 6), FileSpan("src/a.py", 21, 21)]
    assert views_of("git diff", diff, folder="/testbed/src") == expected
    assert views_of("gh pr diff 12", diff) == views_of("git format-patch -1 --stdout", diff) == expected
    assert views_of("git show HEAD | head -40", f"commit 12\n\n    Text\n\n{diff}") == expected
    assert views_of("git diff > x", diff) == []


def test_a_terminal_goes_where_cd_says_but_for_subshells_and_folders_that_are_not_there() -> None:
    def folder(command: str, output: str | None = None, *, failed: bool = False) -> str:
        return parse_shell_call(command, output, failed=failed, folder="/testbed").folder

    assert folder("cd src && cat a.py") == "/testbed/src"
    assert folder("(cd src && cat a.py)") == "/testbed"
    assert folder("cd nowhere", "bash: cd: nowhere: No such file or directory") == "/testbed"
    assert folder("cd src", "", failed=True) == "/testbed"
    assert folder("cd ..; cd lib") == "/lib"
    assert folder("cd && cat a.py") == "~"
    assert folder("cd src; cd /lib; cd -") == "/testbed/src"
    assert folder("cd src; (cd /lib; ls); cd -") == "/testbed"
    assert folder("pushd src && pushd /lib && popd") == "/testbed/src"
    assert folder("pushd src > /dev/null; cd lib; pushd /lib; popd; popd") == "/testbed"
    assert views_of("cd nowhere && cat a.py", "sh: cd: nowhere: No such file", failed=True) == []
    assert views_of("sed -n 3p a.py && cat b.py && cat c.py", "x\ncat: b.py: No such file", failed=True) == [A3]
    assert views_of("(cd src && cat a.py); cat b.py") == [FileSpan("src/a.py", 1, None), FileSpan("b.py", 1, None)]


@pytest.mark.parametrize(
    "move",
    [
        "d=$(mktemp -d) && cd $d", 'cd "$tmpdir"', 'cd "$tmpdir/src"', "cd ${tmpdir:-build}",
        "cd $(git rev-parse --show-toplevel)", "cd src*/", 'pushd "$tmpdir" > /dev/null', "cd -", "popd",
        "cd /lib; cd $d; cd ..", "git clone -q . $d; cd $d && cd src",
    ],
)  # fmt: skip
def test_in_a_folder_that_only_the_shell_knew_relative_paths_are_of_no_file(move: str) -> None:
    line = f"{move} && cat a.py /b.py; grep -n burn src; git diff; git -C /e show HEAD:f.py"
    output = "x\nsrc/a.py:3:y\n+++ b/a.py\n@@ -1 +1 @@\n+z"
    call = parse_shell_call(line, output, folder="/testbed")
    assert call.views == (FileSpan("/b.py", 1, None), FileSpan("/e/f.py", 1, None))
    assert "command cat in a folder that only the shell knew" in parse_shell_call(f"{move}; cat a.py", "x").unread
    after = parse_shell_call("cd lib && cat a.py; cd /testbed && cat b.py", "x", folder=call.folder)
    assert (after.views, after.folder) == ((FileSpan("/testbed/b.py", 1, None),), "/testbed")


def test_the_way_into_an_unknown_folder_ends_with_its_subshell_or_leads_back() -> None:
    whole = [FileSpan("/testbed/a.py", 1, None)]
    for line in ('(cd "$d" && cat b.py); cat a.py', 'bash -c "cd $d; cat b.py"; cat a.py', 'cd "$d"; cd -; cat a.py'):
        assert views_of(line, folder="/testbed") == whole, line
    assert views_of("d=src; cd $d; cat a.py", folder="/testbed") == [FileSpan("/testbed/src/a.py", 1, None)]


def test_what_the_shell_puts_into_a_script_is_not_known_in_it() -> None:
    assert views_of('bash -c "cat $d/a.py; cat b.py"') == [FileSpan("b.py", 1, None)]


def test_loops_over_known_words_are_read_turn_by_turn() -> None:
    line = 'for f in a.py b.py; do echo "== $f"; sed -n 3,4p "$f"; done; cat "$f"'
    shown = [FileSpan("a.py", 3, 4), FileSpan("b.py", 3, 4), FileSpan("b.py", 1, None)]
    assert views_of(line, "== a.py\nx\n== b.py\ny") == shown
    assert views_of(line, "== a.py\n== b.py\ny") == shown[1:]
    assert views_of("cd . && " + line.removesuffix('; cat "$f"'), "== a.py\nx") == shown[:1]
    cut = parse_shell_call(line, "== a.py\nx")
    assert cut.views[0] == shown[0]
    assert shown[1] not in cut.views
    assert parse_shell_call(line.removesuffix('; cat "$f"'), "[cut]").unread == (
        "command sed of files that only the shell knew",
    )
    assert views_of("for r in 1,2 8,9; do sed -n ${r}p a.py; done") == [FileSpan("a.py", 1, 2), FileSpan("a.py", 8, 9)]
    assert views_of("for d in x y; do for f in {a,b}.py; do cat $d/$f; done; done") == [
        FileSpan(path, 1, None) for path in ("x/a.py", "x/b.py", "y/a.py", "y/b.py")
    ]


ECHOED = "== src/a.py\nx\n== src/b.py\ny"


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ('for f in src/*.py; do echo "== $f"; sed -n 1,2p "$f"; done', ECHOED),
        ('cd . && for f in $(git ls-files); do echo; echo "== $f"; head -n 2 $f; done', ECHOED),
        ("for f in *.py src/*; do printf '%s %s\\n' == \"$f\"; head -n 2 $f | cat; done", ECHOED),
        ("find src | sort | while IFS= read -r f; do echo == $f; head -n 2 $f; done", ECHOED),
        ('for f in src/*.py; do echo "$f"; head -n 2 $f; done | head -n 90', "src/a.py\nx\ny\nsrc/b.py\nx\ny"),
        ('while read f; do printf "\\n> %s <\\n" $f; head -2 $f; done', "\n> src/a.py <\nx\n\n> src/b.py <\ny\nz"),
        ('for f in src/*.py; do echo "== $(basename "$f") =="; head -2 $f; done', "== a.py ==\nx\n== b.py ==\ny"),
        ('cd . && for f in src/*; do echo "${f##*/}:"; head -n 2 "$f"; done', "a.py:\nx\nb.py:\ny"),
        ('for f in src/a.py src/b.py; do echo $(basename $f); head -2 "$f"; done', "a.py\nx\nb.py\ny"),
    ],
)
def test_words_that_only_the_shell_knew_are_told_by_what_a_loop_echoes(line: str, output: str) -> None:
    parsed = parse_shell_call(line, output)
    assert parsed.unread == ()
    assert [(view.path, view.start) for view in parsed.views] == [("src/a.py", 1), ("src/b.py", 1)]


def test_of_several_commands_piped_into_one_only_the_first_lines_are_known() -> None:
    for line in ("{ cat a.py; cat b.py; } | head -3", "for f in a.py b.py; do cat $f; done | head -n 3"):
        assert views_of(line, "x\ny\nz") == [FileSpan("a.py", 1, 3)], line
    assert views_of("(head -2 a.py; cat b.py) | head -3", "x\ny\nz") == [FileSpan("a.py", 1, 2), FileSpan("b.py", 1, 1)]
    parsed = parse_shell_call("(cat a.py; cat b.py) | tail -3", "x\ny\nz")
    assert (parsed.views, set(parsed.unread)) == ((), {"command tail of several commands' output"})


def test_of_an_output_that_was_cut_off_the_requested_lines_count() -> None:
    for cut in ("…123 tokens truncated…z", "\n[... omitted 9 of 60 lines ...]\nz", "<response clipped><NOTE>"):
        assert views_of("cat a.py; sed -n 5,9p b.py", f"x\ny{cut}") == [WHOLE, FileSpan("b.py", 5, 9)]
        numbered = views_of("nl -ba a.py | sed -n 1,9p", f"     1\tx\n     2\ty{cut}\n     9\tz")
        assert numbered == [FileSpan("a.py", 1, 2), FileSpan("a.py", 9, 9)]


def test_files_that_only_the_shell_knew_are_told_as_not_read() -> None:
    for command in (
        "for f in *.py; do cat $f; done",
        "for f in $(git ls-files); do cat $f; done",
        "for f in " + "a.py " * 5_000 + "; do cat $f; " + "true; " * 1_000 + "done",
        "cat *.py",
        "cat $(git ls-files)",
        "ls | xargs cat",
        "cat {a..c}.py",
        'for f in *; do echo "$f"; cat "$f"; done',
        'for f in $(git ls-files); do echo "= $(basename $f)"; cat "$f"; done',
        'for f in */*.py; do echo "= ${f##*/}"; cat "$f"; done',
        "ls | while read f; do cat $f; done",
    ):
        reading = parse_shell_call(command, "x")
        assert (reading.views, reading.unread) == ((), ("command cat of files that only the shell knew",))
    for command in ("ls | xargs -I{} sh -c 'cat {}'", "find . -exec sh -c 'cat $1' _ {} ';'"):
        assert parse_shell_call(command, "x").unread == ("command sh of files that only the shell knew",)
    search = parse_shell_call("for f in *.py; do grep -n x $f; done", "3:x")
    assert (search.views, search.unread) == ((), ("search of files that only the shell knew",))


def test_searches_of_several_files_that_name_them_show_the_lines_of_each() -> None:
    output = "a.py:3:x\nb.py:5:x"
    assert views_of("grep -Hn x a.py; grep -Hn x b.py", output) == [FileSpan("a.py", 3, 3), FileSpan("b.py", 5, 5)]


@pytest.mark.parametrize("name", ["bat", "less", "vim", "sort", "jq .", "awk '{print $1}'", "perl -ne print"])
def test_other_commands_that_print_files_are_told_as_not_read(name: str) -> None:
    unread = (f"command {name.split()[0]}",)
    for line in (f"{name} a.py", f"{name} a.py | head -3"):
        reading = parse_shell_call(line, "x")
        assert (reading.views, reading.reads, reading.unread) == ((), name != "vim", unread)
        assert parse_shell_call(line, "").unread == ()
    assert parse_shell_call(f"{name} a.py", f"bash: {name.split()[0]}: command not found").unread == ()
    assert parse_shell_call(f"ls | {name}", "x").unread == ()


def test_powershell_is_told_as_not_read_where_it_showed_something() -> None:
    lines = ('powershell -NoProfile -Command "type a.py"', "cat a.py; Get-Content b.py | Select-Object")
    for command in (*lines, ["C:\\Windows\\powershell.exe", "-Command", "type a.py"]):
        call = parse_shell_call(command, "x", folder="/testbed")
        assert (call.views, call.unread) == ((), ("command of PowerShell",)), command
    assert parse_shell_call("Set-Content a.py x", "").unread == ()
    assert parse_shell_call("cat > a.ps1 <<'E'\nGet-Content b.py\nE", "").unread == ()
    assert parse_shell_call("rg -n x .\\src", "src\\a.py:3:x", folder="C:\\w").views == (
        FileSpan("C:/w/src/a.py", 3, 3),
    )


def test_a_script_that_opens_files_is_told_as_not_read() -> None:
    for command in ("python3 -c 'print(open(\"a.py\").read())'", "python - <<E\nprint(P('a.py').read_text())\nE"):
        call = parse_shell_call(command, "x\n")
        assert (call.views, len(call.unread)) == ((), 1), command
        assert call.unread[0].startswith("script of python")
    assert parse_shell_call("python3 -c 'print(1)'", "1\n").unread == ()
    assert parse_shell_call('python3 -c \'open("a", "w")\'', "").unread == ()


def test_commands_that_print_files_read_though_there_is_nothing_to_print() -> None:
    assert parse_shell_call("cat a.py", "cat: a.py: No such file").reads
    assert parse_shell_call("rg burn", "").reads


@pytest.mark.parametrize("command", ["ls", "git log --oneline", "python a.py", "cat a.py > b.py", "cd src"])
def test_other_commands_do_not_read(command: str) -> None:
    assert not parse_shell_call(command, "x").reads


def test_hostile_commands_are_read_within_bounds_or_told_as_too_long() -> None:
    for unit in ("cat <<A ", "a|", "a=(", "$(", "((", "'", '"${', "[[ ", "bash -c '", "a=$a$a; ", "{a,b}"):
        assert parse_shell_call(unit * (1_000_000 // len(unit))).unread == ("command too long to be read",), unit
        assert views_of(unit * (9_000 // len(unit))) == [], unit
    assert views_of("cat a.py", "Output too large saved to: " * 20_000) == [WHOLE]
    written = f"cat > b.py <<'EOF'\n{'x y z' * 200_000}\nEOF\ncat a.py"
    assert views_of(written) == [WHOLE]


PIECES = st.sampled_from(
    ["cat ", "sed -n ", "head -", "tail +", "grep -n ", "awk '", '"', "'", "\\", "|", ";", "<<X\n", ">", "(", "a.py",
     "1,9p", "99999999999999999999", "$(", "`", "\n", "bash -c ", "cd ", "--", "-e ", "NR>=", "git "]
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=20) | st.lists(st.text(max_size=5), max_size=4),
    st.none() | st.lists(st.sampled_from(["a.py", ":", "-", "9", "\n", "File: ", "x y"]), max_size=9).map("".join),
    st.booleans(),
)
def test_any_line_is_read(command: str | list[str], output: str | None, failed: bool) -> None:
    views = parse_shell_call(command, output, failed=failed).views
    assert len(set(views)) == len(views)
    assert all(view.path for view in views)


B = FileSpan("b.py", 1, None)


@pytest.mark.parametrize(
    ("command", "views"),
    [
        ("cat {a,b}.py", [WHOLE, B]), ("D=src; cat $D/{a,x/b}.c", [FileSpan("src/a.c", 1), FileSpan("src/x/b.c", 1)]),
        ("cat {a.py,*.js}", [WHOLE]), ("export F=a.py; cat $F", [WHOLE]),
        ("D=src; F=a; cat $D/$F.py", [FileSpan("src/a.py", 1)]),
        ("timeout -k 5 10 cat a.py", [WHOLE]), ("conda run -n testbed cat a.py", [WHOLE]),
        ("docker exec -i -w /testbed box bash -c 'cat a.py'", [WHOLE]),
        ("sed -n '3,9{=;p}' a.py", [FileSpan("a.py", 3, 9)]), ("sed -n '3, 9 { p; }' a.py", [FileSpan("a.py", 3, 9)]),
        ("head -9 a.py | sed 's/^/  /'", [FileSpan("a.py", 1, 9)]), ("sed 's/a/b/;5d' a.py", [FileSpan("a.py")]),
        ("awk 'NR>=3 {print} NR==9 {exit}' a.py", [FileSpan("a.py", 3, 9)]), ("awk '{print NR, $0}' a.py", [WHOLE]),
        ("awk 'NR>=3; NR>9{exit}' a.py", [FileSpan("a.py", 3, 10)]),
        ("awk -v s=3 -v e=9 'NR>=s && NR<=e' a.py", [FileSpan("a.py", 3, 9)]),
    ],
)  # fmt: skip
def test_words_that_the_line_itself_tells_are_known(command: str, views: list[FileSpan]) -> None:
    assert views_of(command) == views


@pytest.mark.parametrize(
    "command", ["head -3 *.py", "ls *.py | xargs head -3", "find . -name '*.py' | xargs head -n 3"]
)
def test_files_that_head_names_are_known(command: str) -> None:
    parsed = parse_shell_call(command, "==> a.py <==\nx\n\n==> b/c.py <==\ny\n")
    assert (list(parsed.views), parsed.unread) == ([FileSpan("a.py", 1, 3), FileSpan("b/c.py", 1, 3)], ())
