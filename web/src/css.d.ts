// Style sheets are bundled by esbuild and have no exports.
declare module "*.css";
