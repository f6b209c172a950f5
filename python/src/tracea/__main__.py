"""`python -m tracea`: devices, programs and the cache, from the command line."""

import argparse
import json
import sys


def _devices(arguments):
    from . import Context

    for context in Context.devices():
        print(context, end="\n\n")


def _compile(arguments):
    from . import compile

    program = compile(
        arguments.module,
        target=arguments.target,
        fuse=arguments.fuse,
        require_proof=arguments.require_proof,
        cache=not arguments.no_cache,
    )
    if arguments.output:
        program.save(arguments.output)
    print(program)


def _explain(arguments):
    from . import compile, load
    from .context import Plan

    if arguments.program.endswith(".tracea"):
        program = load(arguments.program)
    else:
        program = compile(arguments.program, target=arguments.target, cache=False)
    print(json.dumps(program.explain(), indent=2) if arguments.json else Plan(program))


def _cache(arguments):
    from . import cache_clear, cache_directory

    if arguments.clear:
        cache_clear()
    print(cache_directory() or "no cache")


def main(argv=None):
    from . import Error, __version__

    parser = argparse.ArgumentParser(prog="tracea", description="Tracea's Python package.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("devices", help="show the devices of this machine")
    command.set_defaults(run=_devices)

    command = commands.add_parser("compile", help="compile a module")
    command.add_argument("module", help="a file with MLIR")
    command.add_argument("-o", "--output", help="the program file to write")
    command.add_argument("--target", default="cpu", help="cpu, cuda, sm_90a, … (default: cpu)")
    command.add_argument("--fuse", default="safe", choices=["none", "safe", "all"])
    command.add_argument("--require-proof", action="store_true")
    command.add_argument("--no-cache", action="store_true")
    command.set_defaults(run=_compile)

    command = commands.add_parser("explain", help="say what a program consists of, and why")
    command.add_argument("program", help="a program file (.tracea) or a module")
    command.add_argument("--target", default="cpu")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_explain)

    command = commands.add_parser("cache", help="show the folder of compiled programs")
    command.add_argument("--clear", action="store_true", help="delete them")
    command.set_defaults(run=_cache)

    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except Error as error:
        print(f"tracea: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
