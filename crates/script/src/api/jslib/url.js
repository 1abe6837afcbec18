// What scripts import from https://jslib.k6.io/url/*: our own globals.
export const URL = globalThis.URL;
export const URLSearchParams = globalThis.URLSearchParams;
