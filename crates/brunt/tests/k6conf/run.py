#!/usr/bin/env python3
"""k6conf: differential conformance harness for k6-compatible load testers.

Every script in scripts/ is run twice against the same local server (127.0.0.1
only): once with the reference and once with the candidate. What is compared:
exit code, checks (group path, name, passes, fails), metrics (names, kinds,
counts), thresholds, console lines, and where a script asks for it stdout,
files, the JSON or CSV output stream and stderr patterns.

    REFERENCE="k6 run" CANDIDATE="brunt run" ./run.py
    ./run.py --candidate "brunt run" --filter ws -j 2 -v
    ./run.py --record golden/      # keep the reference's facts
    ./run.py --golden golden/      # compare with kept facts, no reference needed

Output: one line a script (PASS/FAIL name reason...), then 'N passed, M failed'.
Directives are '// @key: value' lines at the top of a script (see README.md).
"""
import argparse, base64, collections, concurrent.futures, fnmatch, glob, hashlib, json, os, re, shlex
import shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_CMP = ["exit", "checks", "metrics", "thresholds", "console"]
# their values depend on timing or on header sizes: presence only (data_*) or nothing at all (vus*)
IGNORE_VALUES = {"data_sent", "data_received", "vus", "vus_max"}
IGNORE_PRESENCE = {"vus", "vus_max"}
IGNORE_TAGS = {"error"}  # free text; error_code is compared
TREND_STATS = "avg,min,med,max,p(90),p(95),count"


class Spec:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        d = collections.defaultdict(list)
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r"^//\s*@([a-z-]+)(?::\s*(.*?))?\s*$", line)
                if m:
                    d[m.group(1)].append(m.group(2) or "")
                elif line.strip() and not line.startswith("//"):
                    break
        self.d = d
        self.flags = d["flags"]
        self.env = dict(kv.split("=", 1) for v in d["env"] for kv in shlex.split(v))
        self.unset = [k for v in d["unset"] for k in v.split()]
        self.exit = int(d["exit"][0]) if d["exit"] else None
        self.cmp = list(DEFAULT_CMP)
        for v in d["cmp"]:
            self.cmp = v.split()
        for v in d["also"]:
            self.cmp += v.split()
        for v in d["skip"]:
            self.cmp = [c for c in self.cmp if c not in v.split()]
        self.masks = [v.split(" => ", 1) if " => " in v else [v, ""] for v in d["mask"]]
        self.tol = {}
        for v in d["tol"]:
            for kv in v.split():
                k, n = kv.rsplit("=", 1)
                self.tol[k] = float(n)
        self.ignore = [x for v in d["ignore"] for x in v.split()]
        self.exact = [x for v in d["exact"] for x in v.split()]
        self.notags = IGNORE_TAGS | {x for v in d["notags"] for x in v.split()}
        self.timeout = float(d["timeout"][0]) if d["timeout"] else 60
        self.ref = d["ref"][0] if d["ref"] else "k6"
        self.ordered = "ordered" in d
        self.out = d["out"][0] if d["out"] else None
        if self.out == "json" and "samples" not in self.cmp:
            self.cmp.append("samples")
        if self.out == "csv" and "csv" not in self.cmp:
            self.cmp.append("csv")

    def digest(self):
        h = hashlib.sha256()
        for p in [self.path] + sorted(glob.glob(os.path.join(HERE, "data", "**"), recursive=True)):
            if os.path.isfile(p):
                with open(p, "rb") as f:
                    h.update(f.read())
        return h.hexdigest()[:16]


class Server:
    def __init__(self, port):
        self.port = port
        self.dir = tempfile.mkdtemp(prefix="k6conf-pki-")
        binp = os.path.join(os.environ.get("K6CONF_BUILD") or os.path.join(HERE, "server"), "k6conf-server")
        src = glob.glob(os.path.join(HERE, "server", "*.go"))
        if not os.path.exists(binp) or os.path.getmtime(binp) < max(map(os.path.getmtime, src)):
            # Debian's Go and its packages of the codecs and of h2c; no module is fetched.
            env = dict(os.environ, GO111MODULE="off", GOPATH="/usr/share/gocode", GOFLAGS="")
            subprocess.run(["go", "build", "-o", binp, "."], cwd=os.path.join(HERE, "server"), check=True, env=env)
        self.p = subprocess.Popen([binp, "-port", str(port), "-dir", self.dir], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        if not (self.p.stdout.readline() or "").startswith("ready"):
            raise SystemExit("the test server did not start (are ports %d-%d free?)" % (port, port + 4))

    def stop(self):
        self.p.stdin.close()
        try:
            self.p.wait(5)
        except subprocess.TimeoutExpired:
            self.p.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


LOGFMT = re.compile(r'(\w[\w.-]*)=("(?:[^"\\]|\\.)*"|\S*)')


def unquote(s):
    if len(s) >= 2 and s[0] == '"':
        try:
            return json.loads(s)
        except ValueError:
            # Go %q: \x.. and \U........ are not JSON
            s = re.sub(r"\\x([0-9a-fA-F]{2})", lambda m: "\\u00" + m.group(1), s)
            s = re.sub(r"\\U([0-9a-fA-F]{8})", lambda m: json.dumps(chr(int(m.group(1), 16)))[1:-1], s)
            s = s.replace("\\a", "\\u0007").replace("\\v", "\\u000b").replace("\\'", "'")
            try:
                return json.loads(s)
            except ValueError:
                return s[1:-1]
    return s


def parse_log(text):
    """log lines as dicts; understands logrus text (TTY or not) and JSON"""
    out = []
    for line in text.splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if not line.strip():
            continue
        if line.startswith("{"):
            try:
                out.append(json.loads(line))
                continue
            except ValueError:
                pass
        m = re.match(r"^(INFO|WARN|ERRO|DEBU)\[\d+\]\s(.*?)(?:\s+((?:\w+=\S+\s*)+))?$", line)
        if m:
            d = {k: unquote(v) for k, v in LOGFMT.findall(m.group(3) or "")}
            d.update(level={"INFO": "info", "WARN": "warning", "ERRO": "error", "DEBU": "debug"}[m.group(1)],
                     msg=m.group(2).rstrip())
            out.append(d)
            continue
        d = {k: unquote(v) for k, v in LOGFMT.findall(line)}
        if "level" in d and ("msg" in d or "source" in d):
            out.append(d)
        else:
            out.append({"raw": line})
    return out


class Runner:
    def __init__(self, args, server):
        self.a, self.s = args, server
        p = server.port
        self.vars = {
            "HTTP": f"http://127.0.0.1:{p}", "HTTPS": f"https://127.0.0.1:{p+1}", "HTTPS1": f"https://127.0.0.1:{p+2}",
            "MTLS": f"https://127.0.0.1:{p+3}", "GARBAGE": f"http://127.0.0.1:{p+4}", "WS": f"ws://127.0.0.1:{p}",
            "WSS": f"wss://127.0.0.1:{p+1}", "GRPC": f"127.0.0.1:{p}", "GRPCS": f"127.0.0.1:{p+1}", "PORT": str(p),
            "REFUSED": "http://127.0.0.1:1", "PKI": server.dir, "DATA": os.path.join(HERE, "data"),
        }

    def run(self, spec, cmd, who):
        tmp = tempfile.mkdtemp(prefix="k6conf-" + re.sub(r"[^\w.-]", "_", spec.name) + f"-{who}-")
        run_id = hashlib.sha1(os.urandom(16)).hexdigest()[:12]
        v = dict(self.vars, TMP=tmp, RUN_ID=run_id, SCRIPT=spec.path, SCRIPTS=os.path.dirname(spec.path))
        sub = lambda s: re.sub(r"\{([A-Z0-9_]+)\}", lambda m: v.get(m.group(1), m.group(0)), s)
        # nothing may leave the machine: no usage report, no extension provisioning, no REST port
        env = {k: x for k, x in os.environ.items() if not k.startswith("K6_") and k.upper() not in
               ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")}
        env.update(K6_NO_USAGE_REPORT="true", K6_AUTO_EXTENSION_RESOLUTION="false", K6_ADDRESS="127.0.0.1:0",
                   K6_CONFIG=os.path.join(tmp, "no-config.json"), NO_COLOR="1", K6CONF_SYS="from-system")
        with open(env["K6_CONFIG"], "w") as f:
            f.write("{}")
        if "config" in spec.d:
            with open(env["K6_CONFIG"], "w") as f:
                f.write(sub("\n".join(spec.d["config"])))
        env.update({k: sub(x) for k, x in spec.env.items()})
        if "trend-stats" not in spec.d:
            env.setdefault("K6_SUMMARY_TREND_STATS", TREND_STATS)
        for k in spec.unset:
            env.pop(k, None)
        base = list(cmd)
        plain = base[:-1] if base[-1] == "run" else base
        steps = spec.d["step"] or ["run"]
        res = {"exit": None}
        text = {"out": "", "err": ""}
        for i, step in enumerate(steps):
            last = i == len(steps) - 1
            words = shlex.split(sub(step))
            argv = (base if words[0] == "run" else plain + [words[0]])
            if words[0] == "run":
                argv = argv + ["--quiet", "--summary-export", os.path.join(tmp, "summary.json")]
                if self.a.samples and spec.out is None:
                    argv += ["--out", "json=" + os.path.join(tmp, "out.json")]
                if spec.out:
                    argv += ["--out", spec.out + "=" + os.path.join(tmp, "out." + spec.out)]
            if words[0] in ("run", "archive", "inspect"):
                for k in sorted(v):
                    argv += ["-e", f"{k}={v[k]}"]
            stdin = None
            argv += words[1:]
            for fl in spec.flags if last else []:
                argv += shlex.split(sub(fl))
            if "stdin" in spec.d:
                argv.append("-")
                stdin = open(spec.path, "rb")
            elif not any(w.endswith((".tar", ".js", ".ts")) for w in words[1:]):
                argv.append(spec.path)
            t0 = time.time()
            fo, fe = open(os.path.join(tmp, "stdout"), "wb+"), open(os.path.join(tmp, "stderr"), "wb+")
            p = subprocess.Popen(argv, cwd=tmp, env=env, stdin=stdin or subprocess.DEVNULL, stdout=fo, stderr=fe)
            timers = []
            for sg in spec.d["signal"]:
                name, at = sg.split()
                timers.append(threading.Timer(float(at), lambda n=name: p.poll() is None and
                                              p.send_signal(getattr(signal, "SIG" + n))))
            for t in timers:
                t.start()
            try:
                res["exit"] = p.wait(spec.timeout)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
                res["exit"] = "timeout after %gs" % spec.timeout
            for t in timers:
                t.cancel()
            res["seconds"] = round(time.time() - t0, 2)
            for k, f in (("out", fo), ("err", fe)):
                f.seek(0)
                text[k] = f.read().decode("utf-8", "replace")
                f.close()
            if stdin:
                stdin.close()
            if res["exit"] != 0 and not last:
                break
        norm = self.normaliser(spec, v)
        log = parse_log(text["err"])
        con = [(d.get("level"), norm(str(d.get("msg", "")))) for d in log if d.get("source") == "console"]
        if "console-file" in spec.d:
            try:
                with open(os.path.join(tmp, spec.d["console-file"][0]), encoding="utf-8") as f:
                    con = [(d.get("level"), norm(str(d.get("msg", "")))) for d in parse_log(f.read())]
            except OSError:
                con = [("missing", spec.d["console-file"][0])]
        con = [list(c) for c in con]
        res["console"] = con if spec.ordered else sorted(con)
        res["stderr"] = norm(text["err"])
        res["stdout"] = norm(text["out"])
        self.read_summary(os.path.join(tmp, "summary.json"), res, norm)
        files = {}
        for kind in ("file", "jsonfile"):
            for fn in spec.d[kind]:
                p2 = os.path.join(tmp, fn)
                if not os.path.exists(p2):
                    files[fn] = None
                    continue
                with open(p2, encoding="utf-8", errors="replace") as f:
                    t = f.read()
                if kind == "jsonfile":
                    try:
                        files[fn] = json.loads(norm(t))
                    except ValueError as e:
                        files[fn] = "not JSON: %s" % e
                else:
                    files[fn] = norm(t)
        for fn in spec.d["jsonshape"]:
            try:
                with open(os.path.join(tmp, fn), encoding="utf-8") as f:
                    files[fn] = json_shape(json.load(f), spec.exact)
            except (OSError, ValueError) as e:
                files[fn] = type(e).__name__
        res["files"] = files
        res["samples"] = self.read_json_out(os.path.join(tmp, "out.json"), spec, norm)
        res["csv"] = self.read_csv_out(os.path.join(tmp, "out.csv"))
        if self.a.keep:
            dst = os.path.join(self.a.keep, spec.name, who)
            shutil.rmtree(dst, ignore_errors=True)
            shutil.copytree(tmp, dst)
        shutil.rmtree(tmp, ignore_errors=True)
        return res

    def normaliser(self, spec, v):
        reps = [(v["TMP"], "<TMP>"), (v["RUN_ID"], "<RUN>"), (v["PKI"], "<PKI>"),
                (os.path.dirname(spec.path), "<SCRIPTS>"), (HERE, "<CONF>")]

        def norm(s):
            for a, b in reps:
                s = s.replace(a, b)
            for a, b in spec.masks:
                s = re.sub(a, b, s)
            return s
        return norm

    @staticmethod
    def read_summary(path, res, norm):
        res["checks"], res["metrics"], res["thresholds"] = None, None, None
        try:
            with open(path, encoding="utf-8") as f:
                s = json.loads(norm(f.read()))
        except (OSError, ValueError):
            return
        checks = {}

        def walk(g):
            for c in (g.get("checks") or {}).values():
                checks[c.get("path", c.get("name"))] = [c["passes"], c["fails"]]
            for sub in (g.get("groups") or {}).values():
                checks.setdefault("group " + sub.get("path", sub["name"]), [0, 0])
                walk(sub)
        walk(s.get("root_group") or {})
        res["checks"] = checks
        res["metrics"], res["thresholds"] = {}, {}
        for n, m in (s.get("metrics") or {}).items():
            m = dict(m)
            th = m.pop("thresholds", None)
            if th:
                res["thresholds"][n] = th
            res["metrics"][n] = m

    def read_json_out(self, path, spec, norm):
        if not os.path.exists(path):
            return None
        pts, defs = collections.Counter(), {}
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    o = json.loads(norm(line))
                except ValueError:
                    pts["<not json> " + line[:60]] += 1
                    continue
                if o.get("type") == "Metric":
                    d = o["data"]
                    defs[o["metric"]] = [d.get("type"), d.get("contains"), d.get("thresholds") or [],
                                         sorted(x.get("name", "") for x in d.get("submetrics") or [])]
                elif o.get("type") == "Point":
                    d = o["data"]
                    tags = {k: x for k, x in (d.get("tags") or {}).items() if k not in spec.notags}
                    key = o["metric"] + " " + json.dumps(tags, sort_keys=True)
                    if d.get("metadata"):
                        key += " meta " + json.dumps(d["metadata"], sort_keys=True)
                    bad = [k for k in ("time", "value") if k not in d]
                    if not re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$", str(d.get("time"))):
                        bad.append("time format")
                    pts[key + ("" if not bad else " BAD " + ",".join(bad))] += 1
                else:
                    pts["<type %r>" % o.get("type")] += 1
        return {"defs": defs, "points": dict(pts)}

    @staticmethod
    def read_csv_out(path):
        if not os.path.exists(path):
            return None
        import csv
        with open(path, encoding="utf-8", newline="") as f:
            rows = list(csv.reader(f))
        if not rows:
            return {"header": []}
        head = rows[0]
        per, shape = collections.Counter(), set()
        for r in rows[1:]:
            d = dict(zip(head, r))
            per[d.get("metric_name")] += 1
            if len(r) != len(head):
                shape.add("row with %d columns" % len(r))
            if not re.match(r"^\d{10}$", d.get("timestamp", "")):
                shape.add("timestamp not in unix seconds")
            if not re.match(r"^-?\d+\.\d{6}$", d.get("metric_value", "")):
                shape.add("value not %f")
        cols = {c: sorted({dict(zip(head, r)).get(c, "") for r in rows[1:]}) for c in head
                if c in ("method", "status", "proto", "scenario", "group", "check", "expected_response")}
        return {"header": head, "rows": dict(per), "shape": sorted(shape), "values": cols}


def close(a, b, tol):
    return abs(a - b) <= tol


def compare(spec, r, c):
    why = []
    cmp = spec.cmp

    def add(s):
        why.append(s)

    def tol(name):
        for k in (name, name.split("{")[0]):
            if k in spec.tol:
                return spec.tol[k]
        return spec.tol.get("*", 0)

    def ignored(n):
        return any(fnmatch.fnmatchcase(n, g) for g in spec.ignore)

    if "exit" in cmp and r["exit"] != c["exit"]:
        add(f"exit {r['exit']} != {c['exit']}")
    if "checks" in cmp:
        a, b = r["checks"], c["checks"]
        if (a is None) != (b is None):
            add("summary-export %s" % ("missing" if b is None else "unexpected"))
        elif a is not None:
            for k in sorted(set(a) | set(b)):
                if k not in b:
                    add(f"check missing: {k}")
                elif k not in a:
                    add(f"check extra: {k}")
                elif any(not close(x, y, tol("checks")) for x, y in zip(a[k], b[k])):
                    add(f"check {k}: {a[k]} != {b[k]}")
    if "metrics" in cmp and r["metrics"] is not None and c["metrics"] is not None:
        a, b = r["metrics"], c["metrics"]
        for n in sorted(set(a) | set(b)):
            if n.split("{")[0] in IGNORE_PRESENCE or ignored(n):
                continue
            if n not in b:
                add(f"metric missing: {n}")
                continue
            if n not in a:
                add(f"metric extra: {n}")
                continue
            x, y = a[n], b[n]
            if set(x) != set(y):
                add(f"metric {n}: fields {sorted(x)} != {sorted(y)}")
                continue
            if n.split("{")[0] in IGNORE_VALUES:
                continue
            keys = list(x) if any(fnmatch.fnmatchcase(n, g) for g in spec.exact) else \
                [k for k in x if k in ("count", "passes", "fails")]
            for k in keys:
                if k == "rate" and "count" in x:
                    continue
                t = tol(n) if k in ("count", "passes", "fails") else 1e-9 * max(1, abs(x[k]))
                if not close(x[k], y[k], t):
                    add(f"metric {n}.{k}: {x[k]:g} != {y[k]:g}" + (f" (tolerance {t:g})" if t >= 1 else ""))
    if "thresholds" in cmp and r["thresholds"] is not None and c["thresholds"] is not None:
        if r["thresholds"] != c["thresholds"]:
            for n in sorted(set(r["thresholds"]) | set(c["thresholds"])):
                x, y = r["thresholds"].get(n), c["thresholds"].get(n)
                if x != y:
                    add(f"thresholds of {n}: {x} != {y}")
    if "console" in cmp and r["console"] != c["console"]:
        a, b = r["console"], c["console"]
        if spec.tol.get("console") and abs(len(a) - len(b)) <= spec.tol["console"] and \
                {tuple(x) for x in a} == {tuple(x) for x in b}:
            pass
        else:
            i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            g = lambda l: repr(" ".join(map(str, l[i])))[:160] if i < len(l) else "(end)"
            add(f"console line {i+1} of {len(a)}/{len(b)}: {g(a)} != {g(b)}")
    if "stdout" in cmp and r["stdout"] != c["stdout"]:
        a, b = r["stdout"].splitlines(), c["stdout"].splitlines()
        i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        g = lambda l: repr(l[i])[:120] if i < len(l) else "(end)"
        add(f"stdout line {i+1}: {g(a)} != {g(b)}")
    if "stdoutjson" in cmp:
        vals = []
        for x in (r, c):
            try:
                vals.append(json.loads(x["stdout"]))
            except ValueError:
                vals.append("not JSON")
        for p in json_diff(vals[0], vals[1])[:5]:
            add("stdout " + p)
    for fn in r["files"]:
        a, b = r["files"][fn], c["files"].get(fn)
        if a != b:
            d = json_diff(a, b)[:4] if not isinstance(a, str) else [f"{a[:80]!r} != {(b or '')[:80]!r}"]
            add(f"file {fn}: " + "; ".join(d))
    for rx in spec.d["stderr"]:
        for who, x in (("reference", r), ("candidate", c)):
            if not re.search(rx, x["stderr"]):
                add(f"{who} stderr lacks /{rx}/")
    for rx in spec.d["stdout-re"]:
        for who, x in (("reference", r), ("candidate", c)):
            if not re.search(rx, x["stdout"]):
                add(f"{who} stdout lacks /{rx}/")
    if "samples" in cmp or (r.get("samples") and c.get("samples") and spec.out is None):
        a, b = r["samples"], c["samples"]
        if (a is None) != (b is None):
            add("json output %s" % ("missing" if b is None else "unexpected"))
        elif a is not None:
            skip = lambda k: k.split(" ")[0].split("{")[0] in ("vus", "vus_max", "data_sent", "data_received") or \
                ignored(k.split(" ")[0])
            for k in sorted(set(a["points"]) | set(b["points"])):
                x, y = a["points"].get(k, 0), b["points"].get(k, 0)
                if not skip(k) and not close(x, y, tol(k.split(" ")[0])):
                    add(f"samples {k}: {x} != {y}")
            for k in sorted(set(a["defs"]) | set(b["defs"])):
                if not skip(k) and a["defs"].get(k) != b["defs"].get(k):
                    add(f"metric definition {k}: {a['defs'].get(k)} != {b['defs'].get(k)}")
    if "csv" in cmp:
        a, b = r["csv"], c["csv"]
        if a is None or b is None:
            add("csv output missing")
        else:
            if a["header"] != b["header"]:
                add(f"csv header {a['header']} != {b['header']}")
            if b.get("shape"):
                add(f"csv rows: {b['shape']}")
            for n in sorted(set(a.get("rows", {})) | set(b.get("rows", {}))):
                if n in IGNORE_VALUES:
                    continue
                if not close(a["rows"].get(n, 0), b["rows"].get(n, 0), tol(n)):
                    add(f"csv rows of {n}: {a['rows'].get(n, 0)} != {b['rows'].get(n, 0)}")
            if a.get("values") != b.get("values"):
                add(f"csv tag values {a.get('values')} != {b.get('values')}")
    return why


def json_shape(v, exact, keep=False):
    """the structure of a document: leaves become type names, lists of named things become maps"""
    if isinstance(v, dict):
        keep = keep or v.get("name") in exact
        return {k: json_shape(x, exact, keep) for k, x in v.items()}
    if isinstance(v, list):
        if v and all(isinstance(x, dict) and "name" in x for x in v):
            return {x["name"]: json_shape(x, exact, keep) for x in v if x["name"] not in IGNORE_PRESENCE}
        return [json_shape(x, exact, keep) for x in v]
    if keep or isinstance(v, (str, bool)) and len(str(v)) < 12:
        return v
    return "number" if isinstance(v, (int, float)) and not isinstance(v, bool) else type(v).__name__


def json_diff(a, b, path="$"):
    if isinstance(a, dict) and isinstance(b, dict):
        out = []
        for k in sorted(set(a) | set(b), key=str):
            if k not in b:
                out.append(f"{path}.{k} missing")
            elif k not in a:
                out.append(f"{path}.{k} extra")
            else:
                out += json_diff(a[k], b[k], f"{path}.{k}")
        return out
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in json_diff(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {str(a)[:80]} != {str(b)[:80]}"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--reference", default=os.environ.get("REFERENCE", "k6 run"))
    ap.add_argument("--reference-cable", default=os.environ.get("REFERENCE_CABLE", "k6cable run"))
    ap.add_argument("--candidate", default=os.environ.get("CANDIDATE"))
    ap.add_argument("--candidate-cable", default=os.environ.get("CANDIDATE_CABLE"),
                    help="for the k6/x/cable scripts, where it is another binary")
    ap.add_argument("--filter", default="", help="only scripts whose name contains one of these, comma separated")
    ap.add_argument("--scripts", default=os.path.join(HERE, "scripts"))
    ap.add_argument("--port", type=int, default=int(os.environ.get("PORT_BASE", "18311")))
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("--samples", action="store_true", help="compare every sample's tags too (--out json on all)")
    ap.add_argument("--record", metavar="DIR", help="run the reference only and keep its facts")
    ap.add_argument("--golden", metavar="DIR", help="compare with kept facts instead of running the reference")
    ap.add_argument("--keep", metavar="DIR", help="keep what every run wrote")
    ap.add_argument("--json", metavar="FILE", help="write all results as JSON")
    ap.add_argument("-v", action="store_true", help="all reasons, not the first three; timings")
    a = ap.parse_args()
    if not a.candidate and not a.record:
        ap.error("set CANDIDATE or --candidate, e.g. CANDIDATE='brunt run'")
    paths = sorted(glob.glob(os.path.join(a.scripts, "*.js")) + glob.glob(os.path.join(a.scripts, "*.ts")))
    specs = [Spec(p) for p in paths]
    if a.filter:
        specs = [s for s in specs if any(s.name.startswith(f) if f[:1].isdigit() else f in s.name for f in a.filter.split(","))]
    server = Server(a.port)
    r = Runner(a, server)
    results = {}

    def one(spec):
        refcmd = shlex.split(a.reference_cable if spec.ref == "cable" else a.reference)
        if a.golden:
            p = os.path.join(a.golden, spec.name + ".json")
            if not os.path.exists(p):
                return spec, ["no golden record"], None, None
            with open(p) as f:
                g = json.load(f)
            ref = g["facts"]
            if g["digest"] != spec.digest():
                return spec, ["golden record is of another version of the script"], None, None
        else:
            ref = r.run(spec, refcmd, "ref")
        if spec.exit is not None and ref["exit"] != spec.exit:
            return spec, [f"the reference itself exited {ref['exit']}, the script says {spec.exit}"], ref, None
        if a.record:
            os.makedirs(a.record, exist_ok=True)
            with open(os.path.join(a.record, spec.name + ".json"), "w") as f:
                json.dump({"digest": spec.digest(), "facts": ref}, f, indent=1, sort_keys=True)
            return spec, [], ref, ref
        cc = a.candidate
        if spec.ref == "cable":
            cc = a.candidate_cable or (a.reference_cable if a.candidate == a.reference else a.candidate)
        cand = r.run(spec, shlex.split(cc), "cand")
        return spec, compare(spec, ref, cand), ref, cand

    passed = failed = 0
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=a.j) as ex:
            for spec, why, ref, cand in ex.map(one, specs):
                ok = not why
                passed, failed = passed + ok, failed + (not ok)
                results[spec.name] = {"ok": ok, "why": why, "reference": ref, "candidate": cand}
                t = f" [{ref['seconds']}s/{cand['seconds']}s]" if a.v and ref and cand else ""
                if ok:
                    print(f"PASS {spec.name}{t}", flush=True)
                else:
                    shown = why if a.v else why[:3]
                    more = f" (+{len(why)-len(shown)} more)" if len(why) > len(shown) else ""
                    print(f"FAIL {spec.name}{t}: " + "; ".join(shown) + more, flush=True)
    finally:
        server.stop()
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
