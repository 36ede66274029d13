/** What a workstream is called: its own name, or what was first asked of it where nobody gave it one. */

interface Named {
  id: string;
  name: string;
  title: string;
}

export interface Naming {
  called: string;
  /** Said beside it. */
  beside: string;
  /** A person's words rather than a name. */
  words: boolean;
}

/** A workstream made without a name carries its id as one. */
export function namingOf({ id, name, title }: Named): Naming {
  const own = name && name !== id ? name : "";
  if (own) return { called: own, beside: title === own ? "" : title, words: false };
  return title ? { called: title, beside: id, words: true } : { called: id, beside: "", words: false };
}
