// Bundles src/ into ../crates/report/assets/ and writes SOURCES.sha256 beside it: one `sha256  path` line per source file,
// sorted by path, which `cargo xtask web --check` compares without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = fileURLToPath(new URL(".", import.meta.url));
const assets = fileURLToPath(new URL("../crates/report/assets/", import.meta.url));

await build({
  entryPoints: { chart: `${web}src/main.ts`, live: `${web}src/live/main.ts` },
  outdir: assets,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2020"],
  charset: "ascii",
  legalComments: "none",
  banner: { js: "/* brunt's charts, built from web/ */" },
});

const sources = readdirSync(`${web}src`, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(web.length));
const files = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"]
  .concat(sources)
  .sort();
const line = (file) => {
  const hash = createHash("sha256").update(readFileSync(web + file)).digest("hex");
  return `${hash}  web/${file}\n`;
};
writeFileSync(`${assets}SOURCES.sha256`, files.map(line).join(""));
