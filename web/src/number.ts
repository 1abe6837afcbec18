// Numbers on axes and in legends.

/** A short number: four digits, thousands as k, millions as M. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 9_999_500) return trimmed(value / 1e6) + "M";
  if (size >= 9_999.5) return trimmed(value / 1e3) + "k";
  return trimmed(value);
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** `1/(1-q)` as the percentile it stands for. */
export function percentile(inverse: number): string {
  const digits = Math.max(0, Math.ceil(Math.log10(inverse) - 1e-9) - 2);
  return (100 - 100 / inverse).toFixed(digits) + "%";
}

/** The texts of ticks this far apart: as many digits as tell them apart. */
export function spaced(values: number[], step: number): string[] {
  const texts = values.map(short);
  if (new Set(texts).size === texts.length) return texts;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return values.map((value) => value.toFixed(Math.min(digits, 9)));
}
