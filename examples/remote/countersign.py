"""Countersign's remote gate for Python. Needs only the standard library.

    gate = Gate("http://127.0.0.1:8000", token="cst_...", app="shop")

    @gate.gated(hint="Refund {amount} EUR to {customer}?")
    def refund(amount, customer):
        return pay_back(amount, customer)

    refund(amount=40, customer="bob", key="order-17")

The function runs only after a person has approved the call, with the arguments that were approved, and at most once
for each key: also if the program is started twice, or crashes and starts again.
"""

import functools
import json
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


class Denied(Exception):
    """A person or a policy said no, or nobody decided in time. The function did not run."""


class OutcomeUnknown(Exception):
    """The function was started before, and nobody knows how it ended. A person must settle it."""


class Problem(Exception):
    """The server refused a request. `code` is stable; the message may change."""

    def __init__(self, status, body):
        self.status = status
        self.code = body.get("code", "internal")
        super().__init__(body.get("detail") or body.get("title") or f"HTTP {status}")


class Gate:
    def __init__(self, url, token=None, app="python", lease_seconds=60):
        self.url = url.rstrip("/")
        self.token = token
        self.app = app
        self.lease_seconds = lease_seconds

    def gated(self, **asking):
        """Puts a function behind the gate. Its arguments must be JSON and are given by name, with a `key`."""

        def wrap(function):
            @functools.wraps(function)
            def call(*, key, **args):
                return self.run(function, args, key, **asking)

            return call

        return wrap

    def run(self, function, args, key, tool=None, hint=None, **asking):
        """Asks, waits for the decision, and runs the function if nobody has run it yet. Returns its result."""
        proposal = {"app": self.app, "tool": tool or function.__name__, "args": args, "key": key, **asking}
        if hint is not None:
            proposal["hint"] = hint.format(**args)
        call = self.post("/v1/calls", proposal)
        while True:
            status = call["status"]
            if status == "succeeded":
                return call.get("result")
            if status == "allowed":
                asked = time.time(), time.monotonic()
                claimed = self._claim(key)
                if claimed is not None:
                    return self._execute(function, key, claimed["claim"], asked)
            elif status == "failed":
                raise RuntimeError(call["error"])
            elif status == "unknown":
                raise OutcomeUnknown(call["message"])
            elif status not in ("pending", "executing"):
                raise Denied(call["message"])
            call = self.get(f"/v1/calls/{quote(key)}?wait=30")

    def _claim(self, key):
        # The same nonce again is the same claim, so a lost answer does not lose the call.
        body = {"nonce": secrets.token_urlsafe(24), "leaseSeconds": self.lease_seconds}
        try:
            return self.post(f"/v1/calls/{quote(key)}/claim", body, retries=3)
        except Problem as problem:
            if problem.code == "not-claimable":
                return None  # Another process has it.
            raise

    def _execute(self, function, key, claim, asked):
        proof = {"token": claim["token"], "attempt": claim["attempt"]}
        path = f"/v1/calls/{quote(key)}"
        # The answer took long, or the machine slept: a claim that ran out must not run.
        if max(time.time() - asked[0], time.monotonic() - asked[1]) > self.lease_seconds / 2:
            self.post(f"{path}/heartbeat", {**proof, "leaseSeconds": self.lease_seconds})
        done = threading.Event()
        beating = threading.Thread(target=self._beat, args=(path, proof, done), daemon=True)
        beating.start()
        try:
            result = function(**claim["args"])
        except Exception as error:
            self.post(f"{path}/failure", {**proof, "error": str(error) or type(error).__name__}, retries=3)
            raise
        finally:
            done.set()
        self.post(f"{path}/result", {**proof, "result": result}, retries=3)
        return result

    def _beat(self, path, proof, done):
        while not done.wait(self.lease_seconds / 3):
            try:
                self.post(f"{path}/heartbeat", {**proof, "leaseSeconds": self.lease_seconds})
            except (Problem, OSError):
                pass  # Tried again; a lost claim is told when the result is reported.

    def get(self, path):
        return self._send("GET", path, None, 3)

    def post(self, path, body, retries=3):
        # Every request of this protocol may be sent again: the key, the nonce and the token make it the same one.
        return self._send("POST", path, json.dumps(body).encode(), retries)

    def _send(self, method, path, body, retries):
        request = urllib.request.Request(self.url + path, data=body, method=method)
        request.add_header("content-type", "application/json")
        if self.token:
            request.add_header("authorization", f"Bearer {self.token}")
        for left in range(retries, -1, -1):
            try:
                with urllib.request.urlopen(request, timeout=90) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                text = error.read()
                if error.code < 500 or left == 0:
                    raise Problem(error.code, readable(text)) from None
            except OSError:
                if left == 0:
                    raise
            threading.Event().wait(0.5)


def quote(key):
    return urllib.parse.quote(key, safe="")


def readable(text):
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
