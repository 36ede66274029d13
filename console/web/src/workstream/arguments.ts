/** A call's arguments in one line, and whole. */

import { lookInside } from "./json";

const PRIMARY = ["command", "path", "pattern", "query", "url", "text", "name"] as const;
/** As many characters stand on one line of the log. */
const FITS = 60;

/** The arguments that tell one call from another, in one line. */
export function oneLine(json: string): string {
  const values = lookInside(json);
  if (!values) return json.trim();
  const named = PRIMARY.map((key) => values[key]).filter((value) => typeof value === "string");
  if (typeof values["pattern"] === "string" && typeof values["path"] === "string") {
    return `${values["pattern"]} in ${values["path"]}`;
  }
  const [first = ""] = named;
  if (first) return first.replace(/\s*\n\s*/g, " ⏎ ");
  const rest = Object.entries(values).map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return rest.join(", ");
}

/** The command of a call that runs one, else the arguments, readable. */
export function whole(json: string): string {
  const values = lookInside(json);
  if (!values) return json;
  const keys = Object.keys(values);
  if (typeof values["command"] === "string" && keys.length === 1) return values["command"];
  return JSON.stringify(values, null, 2);
}

/** Whether the one line says all there is. */
export function saysAll(json: string): boolean {
  const values = lookInside(json);
  if (!values) return true;
  const [only, ...others] = Object.values(values);
  return others.length === 0 && (typeof only !== "string" || (only.length <= FITS && !only.includes("\n")));
}
