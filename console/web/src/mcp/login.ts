/** Where a server sends people to log in. */

/** The host of a web address; empty for anything that a browser might run instead of open. */
export function loginPlace(address: string): string {
  try {
    const { protocol, host } = new URL(address);
    return protocol === "https:" || protocol === "http:" ? host : "";
  } catch {
    return "";
  }
}
