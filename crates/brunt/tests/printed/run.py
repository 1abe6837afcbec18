#!/usr/bin/env python3
"""Runs the commands that README.md and docs/guide print: each block of `sh`, in order, in one scratch folder for each document.

    run.py ROOT BRUNT [DOCUMENT ...]

A guide on results reads results that its reader has: such files (READERS) are made before it, unless it is README.md, the tour or the
guide to Rails, which make all that they read. Ports are replaced by free ones and lengths are shortened; nothing else is changed. A block that is not `sh` and holds a command must
be listed in not-run.txt with its reason, and a reason that no block has any more is an error. Prints PASS or FAIL for each document.
"""
import os, re, shutil, signal, socket, subprocess, sys, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAY = re.compile(r"brunt (serve|ui|agent|fleet up)\b|^RAILS_LOG=\S+ puma ")
WAIT = "for i in $(seq 150); do (exec 3<> /dev/tcp/127.0.0.1/{port}) 2> /dev/null && break; sleep 0.2; done"
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.S | re.M)
COMMAND = re.compile(r"^ *(brunt|cargo|kubectl|curl|python3|puma) |\| *brunt ", re.M)
MAKES_ALL = ("README.md", "docs/guide/tour.md", "docs/guide/rails.md")
RESULTS = ("results.bin", "results.arrow", "run.arrow", "old.arrow", "new.arrow", "old-results.bin")
# Codes of a gate that is crossed or undecided, of a search without an answer, and of a model that does not fit: the machine decides, not the document.
JUDGES = re.compile(r"brunt (seek|compare)|-fail-on|brunt run|brunt fit")
ALLOWED = "0 6 7 8 12 99"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def shorter(line):
    line = re.sub(r"((?<!\w)-{1,2}d(?:uration)?[= ])\d+[smh]\S*", r"\g<1>1s", line)
    line = re.sub(r"-budget=\S+", "-budget=10s", line)
    if line.startswith("brunt seek") and "-budget" not in line:
        line = line.replace("brunt seek", "brunt seek -budget=10s", 1)
    return re.sub(r"(\d)x\d+[smh]\b", r"\1x1s", line)


class Document:
    def __init__(self, root, brunt, name):
        self.root, self.brunt, self.name = root, brunt, name
        self.text = (root / name).read_text()
        self.ports = {port: free_port() for port in ("8080", "8081", "8082", "3000", "9090", "8765", "4222")}
        self.folder = Path(tempfile.mkdtemp(prefix="brunt-printed-"))
        self.children = []

    def start(self, *command):
        log = open(self.folder / f".child{len(self.children)}.log", "w")
        child = subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.children.append(child)

    def environment(self):
        drop = ("BRUNT_", "GITHUB_", "HTTP_PROXY", "http_proxy")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
        return {**kept, "PATH": f"{self.folder}/.bin:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}

    def prepare(self):
        (self.folder / ".bin").mkdir()
        (self.folder / ".brunt").mkdir()   # A project of its own: no run goes to the user's store.
        (self.folder / ".bin/brunt").symlink_to(self.brunt)
        shutil.copytree(self.root / "examples", self.folder / "examples")
        shutil.copytree(self.root / "studies", self.folder / "studies", ignore=shutil.ignore_patterns("results"))
        blocks = "".join(code for kind, code in FENCE.findall(self.text) if kind == "sh")
        own = self.name not in MAKES_ALL and "sh" in [kind for kind, _ in FENCE.findall(self.text)]
        ports = [port for port in ("8080", "8081", "8082", "3000", "9090") if (f":{port}" in blocks or own and port == "8080") and not re.search(rf"^brunt serve.*:{port}|^puma .*:{port}|^RAILS.*:{port}", blocks, re.M)]
        for port in ports:
            if port == "3000" and ":3000/cable" not in blocks:
                self.start("python3", "examples/shop/shop.py", str(self.ports[port]))
            else:
                self.start(str(self.brunt), "serve", "--listen", f"127.0.0.1:{self.ports[port]}", "--cable")
        for port in ports:
            self.wait_for(self.ports[port])
        if self.name not in MAKES_ALL and "8080" in ports:
            self.readers_files()

    def readers_files(self):
        """What a reader of a guide has: targets, a script, results of it, and the server's side."""
        url = f"http://127.0.0.1:{self.ports['8080']}/"
        (self.folder / "targets.txt").write_text(f"#brunt name=home\nGET {url}\n#brunt name=login\nGET {url}login\n")
        (self.folder / "targets").write_text(f"GET {url}\n")
        script = (self.root / "examples/scripts/pages.js").read_text().replace("http://127.0.0.1:8080", url[:-1])
        (self.folder / "script.js").write_text(script.replace("sleep(0.5 + Math.random());", ""))
        brunt = [str(self.brunt), "run", "-q", "-u", "2", "-d", "1s", "-o", "results.arrow", "script.js"]
        quiet = {"cwd": self.folder, "env": self.environment(), "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["timeout", "60", *brunt], check=True, **quiet)
        for name in RESULTS:
            shutil.copy(self.folder / "results.arrow", self.folder / name) if name != "results.arrow" else None
        subprocess.run(["timeout", "-s", "INT", "2", str(self.brunt), "watch", "-output=watch.arrow"], **quiet)
        shutil.copy(self.folder / "watch.arrow", self.folder / "server.arrow")

    def wait_for(self, port):
        for _ in range(150):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)

    def script(self, block):
        lines = []
        for line in block.replace("\\\n", " ").split("\n"):
            line = shorter(line.strip())
            line = re.sub(r"(?<=[:=])(8080|8081|8082|3000|9090|8765|4222)\b", lambda found: str(self.ports[found[1]]), line)
            bare = re.sub(r"\s+#\s.*$", "", line)
            if STAY.search(bare):
                bare += f" -listen=127.0.0.1:{self.ports['4222']}" if bare.startswith("brunt fleet up") and "-listen" not in bare else ""
                bare += f" -listen=127.0.0.1:{self.ports['8765']}" if bare == "brunt ui" else ""
                bare = re.sub(r" &$", "", bare)
                lines.append(f"{bare} > .stay.$RANDOM.log 2>&1 & echo $! >> .pids; sleep 1.5")
                lines += [WAIT.format(port=port) for port in re.findall(r"127\.0\.0\.1:(\d+)", bare)]
            elif bare.startswith("brunt watch"):
                lines.append(f"timeout -s INT 3 {bare} || [ $? = 124 ]")
            elif JUDGES.search(bare) and not bare.startswith(("for ", "if ")) and "||" not in bare:
                lines.append(f"{bare} || judged $?")
            else:
                lines.append(line)
        judged = f'judged() {{ case " {ALLOWED} " in *" $1 "*) return 0;; esac; return $1; }}\n'
        return "set -eu -o pipefail\n" + judged + "\n".join(lines)

    def run(self):
        self.prepare()
        for kind, block in FENCE.findall(self.text):
            if kind != "sh" or listed(self.name, block):
                continue
            ran = subprocess.run(["timeout", "120", "bash", "-c", self.script(block)], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if ran.returncode != 0:
                return f"{block.strip()}\nends with {ran.returncode}: {(ran.stdout + ran.stderr)[-1500:]}"
        return None

    def end(self):
        for child in self.children:
            child.terminate()
            child.wait()
        pids = self.folder / ".pids"
        for pid in pids.read_text().split() if pids.exists() else []:
            try:
                os.kill(int(pid), signal.SIGTERM)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)


def reasons():
    """(document, beginning of the block, reason) of each line."""
    lines = [line for line in (HERE / "not-run.txt").read_text().splitlines() if line and not line.startswith("#")]
    return [tuple(part.strip() for part in line.split(" | ")) for line in lines]


def listed(name, block):
    return any(name == document and block.strip().startswith(begin) for document, begin, _ in reasons())


def problems(name, text):
    """Blocks with commands that are neither run nor listed, and reasons for blocks that are gone."""
    blocks = FENCE.findall(text)
    for kind, block in blocks:
        if kind != "sh" and COMMAND.search(block) and not listed(name, block):
            yield f"a command that is not run: {block.strip().splitlines()[0]}"
    for document, begin, _ in reasons():
        if document == name and not any(block.strip().startswith(begin) for _, block in blocks):
            yield f"not-run.txt lists a block that is gone: {begin}"


def main():
    root, brunt = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    guides = sorted(str(path.relative_to(root)) for path in (root / "docs/guide").glob("*.md"))
    names, failed = sys.argv[3:] or ["README.md", *guides], 0
    for name in names:
        document = Document(root, brunt, name)
        try:
            found = [*problems(name, document.text)] or [one for one in [document.run()] if one]
        finally:
            document.end()
        failed += bool(found)
        print(f"FAIL {name}: " + "\n".join(found) if found else f"PASS {name}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
