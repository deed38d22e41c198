# SPDX-License-Identifier: BSD-3-Clause
"""A child process whose lines are waited for: the harness never sleeps for a guessed time."""
import re
import signal
import subprocess
import threading


class Failed(Exception):
    """A case did not hold; `detail` are lines that help to see why."""

    def __init__(self, reason, detail=()):
        super().__init__(reason)
        self.detail = list(detail)


class Process:
    """Reads the lines of both output streams as they come. The child dies with us, however we die."""

    def __init__(self, argv, name=None):
        self.name = name or argv[0].rsplit("/", 1)[-1]
        self.out, self.err = [], []
        self._news = threading.Condition()
        self._open_streams = 2
        # A session of its own: Ctrl-C reaches the harness only, which then ends its children in order.
        self._child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *argv], start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                         for pair in ((self._child.stdout, self.out), (self._child.stderr, self.err))]
        for reader in self._readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)

    def _read(self, stream, lines):
        for line in stream:
            with self._news:
                lines.append(line.decode(errors="replace").rstrip("\r\n"))
                self._news.notify_all()
        with self._news:
            self._open_streams -= 1
            self._news.notify_all()

    def write_line(self, line):
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self.name} has ended", self.tail()) from None

    def await_line(self, pattern, limit, lines=None):
        """The match of the first line that fits. `limit` in seconds only bounds a hang."""
        lines = self.out if lines is None else lines
        seek = re.compile(pattern).search
        with self._news:
            self._news.wait_for(lambda: any(map(seek, lines)) or not self._open_streams, limit)
            found = next(filter(None, map(seek, lines)), None)
            ended = not self._open_streams
        if not found:
            what = "ended without" if ended else f"was silent for {limit} s, no"
            raise Failed(f"{self.name} {what} '{pattern}'", self.tail())
        return found

    def wait(self, limit):
        """The exit status; a child that hangs is ended and is a failure."""
        try:
            status = self._child.wait(limit)
        except subprocess.TimeoutExpired:
            self.end(signal.SIGKILL)
            raise Failed(f"{self.name} did not end within {limit} s", self.tail()) from None
        for reader in self._readers:
            reader.join()
        return status

    def end(self, signum=signal.SIGTERM, limit=10):
        """Sends a signal unless the child has ended, then waits for it."""
        if self._child.poll() is None:
            self._child.send_signal(signum)
        status = self.wait(limit)
        self._child.stdin.close()
        return status

    def tail(self, count=15):
        return self.out[-count:] + self.err[-count:]
