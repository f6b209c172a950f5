#!/usr/bin/env python3
"""Turns the result files of the test runners into "PASSED FAILED SKIPPED".

  tally.py lit REPORT.xml           lit's --xunit-xml-output
  tally.py ctest REPORT.xml DIR     ctest's --output-junit, and the folder that
                                    GTEST_OUTPUT=xml:DIR/ filled
  tally.py line LOG                 the last "N passed, N failed[, N skipped]"

Running nothing counts as one failure, as does a report that is missing or
cannot be read: a suite that crashed has not passed. Names of what failed go to
standard error.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# Test output may hold characters that XML forbids, even as references.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
REFERENCE = re.compile("&#(?:x([0-9a-fA-F]+)|([0-9]+));")


def drop_forbidden(match):
    code = int(match.group(1), 16) if match.group(1) else int(match.group(2))
    return "" if code > 0x10FFFF or FORBIDDEN.match(chr(code)) else match.group()


def read_xml(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = FORBIDDEN.sub("", REFERENCE.sub(drop_forbidden, file.read()))
    return ElementTree.fromstring(text)


def complain(message):
    print("  FAILED: " + message, file=sys.stderr)


def tally_lit(report):
    passed = failed = skipped = 0
    for case in read_xml(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            complain("%s/%s" % (case.get("classname", ""), case.get("name", "")))
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def tally_gtest(report):
    passed = failed = skipped = 0
    for case in read_xml(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            complain("%s.%s" % (case.get("classname", ""), case.get("name", "")))
        elif case.get("status") == "notrun" or case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def tally_ctest(report, gtest_directory):
    """A GoogleTest program counts by its own tests. It has one failure more when
    ctest saw it fail although each test passed (a crash or a leak at exit, a
    time limit), or when it ran no test at all. Other programs count as one."""
    total = [0, 0, 0]
    for case in read_xml(report).iter("testcase"):
        name = case.get("name", "")
        ok = case.get("status") == "run" and case.find("failure") is None
        gtest_report = os.path.join(gtest_directory, name + ".xml")
        if case.get("status") in ("notrun", "disabled"):
            counts = (0, 1, 0)
            complain(name + " did not run")
        elif os.path.exists(gtest_report):
            passed, failed, skipped = tally_gtest(gtest_report)
            if not ok and failed == 0:
                failed += 1
                complain(name + " failed outside its tests")
            elif ok and passed + skipped == 0:
                failed += 1
                complain(name + " holds no test")
            counts = (passed, failed, skipped)
        else:
            counts = (1, 0, 0) if ok else (0, 1, 0)
            if not ok:
                complain(name)
        total = [a + b for a, b in zip(total, counts)]
    return tuple(total)


def tally_line(log):
    pattern = re.compile(
        r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.MULTILINE
    )
    with open(log, encoding="utf-8", errors="replace") as file:
        matches = pattern.findall(file.read())
    if not matches:
        raise ValueError("no line 'N passed, N failed' in " + log)
    passed, failed, skipped = matches[-1]
    return int(passed), int(failed), int(skipped or 0)


def main(arguments):
    kinds = {"lit": tally_lit, "ctest": tally_ctest, "line": tally_line}
    if len(arguments) < 2 or arguments[0] not in kinds:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        passed, failed, skipped = kinds[arguments[0]](*arguments[1:])
    except (OSError, ValueError, ElementTree.ParseError) as error:
        complain("no usable result: %s" % error)
        passed, failed, skipped = 0, 1, 0
    if passed + failed == 0:
        complain("no test passed or failed")
        failed = 1
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
