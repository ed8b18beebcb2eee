// The path below which the service is mounted, such as /netinv: what precedes the path of this file. Blank at the root.
export const MOUNT = new URL(import.meta.url).pathname.replace(/\/static\/.*/, "");
