import { describe, expect, it } from "vitest";
import { nextOrder, sorted, tableOf } from "./rows";

const CSV = "text/csv; charset=utf-8";

describe("a table", () => {
  it("is read from commas, quotes and line ends as RFC 4180 has them", () => {
    const table = tableOf('a,b\r\n"x, y","say ""hi""\nthere"\r\n\r\n1,\n', CSV);
    expect(table.head).toEqual(["a", "b"]);
    expect(table.rows).toEqual([
      ["x, y", 'say "hi"\nthere'],
      ["1", ""],
    ]);
  });

  it("is read from tabs, whose fields may hold commas", () => {
    expect(tableOf("a\tb\n1,5\t2", "text/tab-separated-values").rows).toEqual([["1,5", "2"]]);
  });

  it("is read from a list of objects, whatever keys each has", () => {
    const table = tableOf('[{"a": 1, "b": {"c": null}}, {"d": "x"}]', "application/json");
    expect(table.head).toEqual(["a", "b", "d"]);
    expect(table.rows).toEqual([
      ["1", '{"c":null}', ""],
      ["", "", "x"],
    ]);
  });

  it("is read from a list of lists, the first of which names the columns", () => {
    expect(tableOf('[["a"], [1], [2, 3]]', "application/json")).toEqual({
      head: ["a", ""],
      rows: [
        ["1", ""],
        ["2", "3"],
      ],
      numeric: [true, true],
    });
  });
});

describe("the order of a table", () => {
  const table = tableOf("name,level\nHusum,10\nEmden,9.5\nCuxhaven,\nBüsum,-1e1\n", CSV);

  it("goes by number where a column holds nothing else, what is empty last in both ways", () => {
    const levels = (descending: boolean) => sorted(table, { column: 1, descending }).map((row) => row[1]);
    expect(levels(false)).toEqual(["-1e1", "9.5", "10", ""]);
    expect(levels(true)).toEqual(["10", "9.5", "-1e1", ""]);
  });

  it("goes by words elsewhere", () => {
    expect(sorted(table, { column: 0, descending: false }).map((row) => row[0])).toEqual([
      "Büsum",
      "Cuxhaven",
      "Emden",
      "Husum",
    ]);
  });

  it("goes up, then down, then back to how it came", () => {
    const up = nextOrder(null, 1);
    const down = nextOrder(up, 1);
    expect([up, down, nextOrder(down, 1)]).toEqual([
      { column: 1, descending: false },
      { column: 1, descending: true },
      null,
    ]);
    expect(nextOrder(down, 0)).toEqual({ column: 0, descending: false });
    expect(sorted(table, null)).toBe(table.rows);
  });
});
