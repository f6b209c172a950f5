"""Runs a command with a limit on its processor time: cpu_limit.py SECONDS COMMAND..."""

import os
import resource
import sys

seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
os.execvp(sys.argv[2], sys.argv[2:])
