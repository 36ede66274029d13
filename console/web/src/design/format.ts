/** Times, sizes and names in the page's own words: short and exact. */

/** A length of time: 9 s, 41 min, 5 h, 6 d. */
export function span(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A length of time where tenths count while it is short: 0.4 s, 12 s, 41 min. */
export function spanFine(seconds: number): string {
  return seconds < 10 ? `${Math.max(0, seconds).toFixed(1)} s` : span(seconds);
}

/** A length of time with its smaller part: 5 min 18 s, 6 d 4 h. */
export function spanExact(seconds: number): string {
  const [whole, part, word] =
    seconds < 3600 ? [60, 1, "s"] : seconds < 86_400 ? [3600, 60, "min"] : [86_400, 3600, "h"];
  const rest = Math.floor((seconds % whole) / part);
  return seconds >= 60 && rest > 0 ? `${span(seconds)} ${rest} ${word}` : span(seconds);
}

/** How long a call took: 11 ms, 4.21 s, 2 min 5 s. */
export function took(milliseconds: number): string {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toPrecision(3)} s`;
  return spanExact(milliseconds / 1000);
}

/** A running clock: 0:21. */
export function ticking(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** The time of day in UTC of an RFC 3339 time: 14:07:31. */
export function clock(at: string): string {
  return at.slice(11, 19);
}

/** The full UTC time, as a title holds it. */
export function fullTime(at: string): string {
  return `${at.slice(0, 10)} ${clock(at)} UTC`;
}

/** The day in UTC of a moment in milliseconds: Thu 13 Nov 2025. */
export function day(moment: number): string {
  const parts = { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" } as const;
  return new Date(moment).toLocaleDateString("en-GB", parts).replace(",", "");
}

/** Memory in megabytes: 212 MB. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

/** Seconds between two RFC 3339 times, or from one until a moment in milliseconds. */
export function secondsBetween(from: string, to: string | number): number {
  const end = typeof to === "number" ? to : Date.parse(to);
  return Math.max(0, (end - Date.parse(from)) / 1000);
}

/** Tokens with k and M: 96 k, 1.21 M. */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1000)} k`;
  return `${(count / 1_000_000).toFixed(2)} M`;
}

/** One or many: 1 line, 4 lines. */
export function counted(count: number, noun: string): string {
  return `${count} ${plural(count, noun)}`;
}

/** The noun alone, for a number that stands apart from it. */
export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** At most two letters for a person. */
export function initials(name: string): string {
  const parts = name.split(/[\s._@-]+/).filter(Boolean);
  const letters = parts.length > 1 ? [parts[0], parts.at(-1)] : [parts[0]];
  const first = letters.map((part) => (part ?? "").slice(0, 1)).join("");
  return (first.length > 1 ? first : (parts[0] ?? "?").slice(0, 2)).toUpperCase();
}

/** A digest, short: sha256 4be1…90c2. */
export function digest(text: string): string {
  const hex = text.replace(/^sha256:/, "");
  return hex.length > 12 ? `sha256 ${hex.slice(0, 4)}…${hex.slice(-4)}` : hex;
}
