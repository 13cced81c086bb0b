# SPDX-License-Identifier: MIT
"""Public names follow one scheme, and the check finds names that do not."""

from pathlib import Path

import check_names

SBS = "typedef enum sbs_status { SBS_OK } sbs_status;\nSBS_API const char *sbs_version(void);\n"


def faults(**others: str) -> list[str]:
    return list(check_names.check_headers({"sbs": SBS, **others}))


def test_all_names() -> None:
    assert list(check_names.check_all()) == []


def test_names_of_headers() -> None:
    above = "#include <sbs/sbs.h>\n/* as sbs_skin_new */\n"
    good = "SBS_API int sbs_default_brush_options(void);\nSBS_API sbs_status sbs_brush_new(sbs_brush **brush);\n"
    assert faults(brush=above + good) == []
    (fault,) = faults(brush=f"{above}SBS_API int sbs_default_options(void);\n")
    assert "sbs_default_options" in fault
    (fault,) = faults(brush=f"{above}SBS_API int sbs_brush_neighbours(void);\n")
    assert "sbs_brush_neighbours" in fault
    (fault,) = faults(version="")
    assert "sbs_version" in fault
    assert [name for _, name in check_names.python_names("def f(a, b=1):\n    c = a\n    b.d = c\n")] == list("fabcd")


def test_nouns_and_names_that_are_counted() -> None:
    text = 'def f(of):\n    """What moves it."""\n    return of  # what shapes are: what is\n    # here\n'
    assert check_names.count_whats(check_names.comments_of_python(text)) == 2
    assert check_names.count_ofs(Path("a.py"), text) == 2
    code = '/* What\n * holds it, of all. */\nint of = "of"; // what it is\n'
    assert check_names.count_whats(check_names.comments_of_c(code)) == 1
    assert check_names.count_ofs(Path("a.c"), code) == 1
