// Packs the packages into ../crates/script/assets/: each as one CommonJS text that begins with its licences, deflated, in base64.
// Beside them lies SOURCES.sha256: one `sha256  path` line per file that they are made from, sorted by path, which
// `cargo xtask web --check` compares without Node. What is committed is compared unpacked: zlib's versions pack differently.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const assets = fileURLToPath(new URL("../crates/script/assets/", import.meta.url));

// The text of each: a file of its package that is published in one piece, or what esbuild makes of the package.
const MODULES = {
  ajv: { package: "ajv", file: "dist/ajv.min.js" },
  "chai-4.3": { package: "chai" },
  "chai-4.5": { package: "chai-4.5" },
  "form-urlencoded": { package: "form-urlencoded", file: "dist/form-urlencoded.js" },
  jsonpath: { package: "jsonpath", file: "jsonpath.min.js" },
  papaparse: { package: "papaparse", file: "papaparse.min.js" },
};
const lock = JSON.parse(readFileSync(`${here}package-lock.json`, "utf8")).packages;

// The package in the lock file that `from` finds under a name, as Node looks for it.
function place(from, name) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf("node_modules")).replace(/\/$/, "")) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (lock[path] !== undefined) return path;
    if (folder === "") return undefined;
  }
}
// A package and all that it needs.
function needed(name) {
  const found = new Set();
  const todo = [place("", name)];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const dependency of Object.keys(lock[path].dependencies ?? {})) {
      const next = place(path, dependency);
      if (next !== undefined) todo.push(next);
    }
  }
  return [...found].sort();
}
function licences(name) {
  const of = (path) => {
    const file = readdirSync(here + path).find((file) => /^licen[cs]e|^mit-licen/i.test(file));
    const text = file === undefined ? `License: ${lock[path].license}` : readFileSync(`${here}${path}/${file}`, "utf8");
    return `${lock[path].name ?? path.slice(path.lastIndexOf("node_modules/") + 13)} ${lock[path].version}\n\n${text.trim()}`;
  };
  return `/*\n${needed(name).map(of).join("\n\n----\n\n").replaceAll("*/", "* /")}\n*/\n`;
}
async function code({ package: name, file }) {
  if (file !== undefined) return readFileSync(`${here}node_modules/${name}/${file}`, "utf8");
  const built = await build({
    stdin: { contents: `module.exports = require("${name}")`, resolveDir: here },
    bundle: true,
    minify: true,
    format: "cjs",
    charset: "ascii",
    legalComments: "none",
    write: false,
  });
  return built.outputFiles[0].text;
}

for (const [name, of] of Object.entries(MODULES)) {
  const text = licences(of.package) + (await code(of)).replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  const target = `${assets}${name}.js.b64`;
  const before = existsSync(target) ? inflateRawSync(Buffer.from(readFileSync(target, "latin1"), "base64")).toString() : undefined;
  if (before !== text) writeFileSync(target, `${deflateRawSync(text, { level: 9 }).toString("base64")}\n`);
}
const files = ["build.mjs", "package-lock.json", "package.json"];
const line = (file) => `${createHash("sha256").update(readFileSync(here + file)).digest("hex")}  modules/${file}\n`;
writeFileSync(`${assets}SOURCES.sha256`, files.map(line).join(""));
