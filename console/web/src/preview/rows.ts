/** Tables as rows of texts, and their order. Pure. */

export interface Table {
  head: string[];
  rows: string[][];
  /** Which columns hold nothing but numbers. */
  numeric: boolean[];
}

export interface Order {
  column: number;
  descending: boolean;
}

/** A table of comma or tab separated lines, or of JSON: a list of objects or of lists. */
export function tableOf(text: string, mediaType: string): Table {
  const type = mediaType.split(";", 1)[0];
  const all = type === "application/json" ? ofJson(text) : ofLines(text, type === "text/tab-separated-values" ? "\t" : ",");
  const [head = [], ...rows] = all;
  const width = all.reduce((most, row) => Math.max(most, row.length), 0);
  const padded = rows.map((row) => filled(row, width));
  return { head: filled(head, width), rows: padded, numeric: Array.from({ length: width }, (_, at) => isNumeric(padded, at)) };
}

/** The rows in this order; rows that are alike keep their places, what is empty stands last. */
export function sorted(table: Table, order: Order | null): string[][] {
  if (!order) return table.rows;
  const { column, descending } = order;
  const compare = table.numeric[column] ? byNumber : byText;
  const sign = descending ? -1 : 1;
  return [...table.rows].sort((one, other) => {
    const [a = "", b = ""] = [one[column], other[column]];
    if (!a.trim() || !b.trim()) return Number(!a.trim()) - Number(!b.trim());
    return sign * compare(a, b);
  });
}

/** The order after a click on a column: up, then down, then as it came. */
export function nextOrder(order: Order | null, column: number): Order | null {
  if (order?.column !== column) return { column, descending: false };
  return order.descending ? null : { column, descending: true };
}

function filled(row: string[], width: number): string[] {
  return row.length === width ? row : [...row, ...Array.from({ length: width - row.length }, () => "")];
}

const NUMBER = /^[+-]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:e[+-]?\d+)?$/i;

function isNumeric(rows: string[][], column: number): boolean {
  const values = rows.map((row) => row[column]?.trim() ?? "").filter(Boolean);
  return values.length > 0 && values.every((value) => NUMBER.test(value));
}

function byNumber(one: string, other: string): number {
  return Number(one.replace(",", ".")) - Number(other.replace(",", "."));
}

const collator = new Intl.Collator(undefined, { numeric: true });

function byText(one: string, other: string): number {
  return collator.compare(one, other);
}

/** RFC 4180: a field in quotes may hold the separator, line ends, and quotes that are doubled. */
function ofLines(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let quoted = false;
  const endRow = () => {
    row.push(field);
    if (row.length > 1 || row[0]) rows.push(row);
    row = [];
    field = "";
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (sign === '"' && field === "") quoted = true;
    else if (sign === separator) {
      row.push(field);
      field = "";
    } else if (sign === "\n") endRow();
    else if (sign !== "\r") field += sign;
  }
  endRow();
  return rows;
}

function ofJson(text: string): string[][] {
  const list = JSON.parse(text) as unknown[];
  if (list.every((each) => Array.isArray(each))) return list.map((each) => each.map(shown));
  const objects = list as Record<string, unknown>[];
  const head = [...new Set(objects.flatMap((each) => Object.keys(each)))];
  return [head, ...objects.map((each) => head.map((name) => shown(each[name])))];
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
