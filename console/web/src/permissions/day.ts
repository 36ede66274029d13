/** A day, short: 3 Nov. */

export function dayOf(at: string): string {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}
