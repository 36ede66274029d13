/** JSON text of an object, read without trust. */

/** The object that a text holds, or null where it holds none. */
export function lookInside(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
