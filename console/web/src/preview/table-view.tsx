/** A table that a person sorts by its columns. */

import { useMemo, useState } from "react";
import { nextOrder, sorted, tableOf, type Order, type Table } from "./rows";

const SHOWN_AT_ONCE = 500;

export function TableView({ text, mediaType, label }: { text: string; mediaType: string; label: string }) {
  const table = useMemo(() => tableOf(text, mediaType), [text, mediaType]);
  const [order, setOrder] = useState<Order | null>(null);
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const rows = useMemo(() => sorted(table, order), [table, order]);
  return (
    <>
      <div className="pv-scroll" role="group" aria-label={label} tabIndex={0}>
        <table className="tbl inpanel pv-table">
          <thead>
            <tr>
              {table.head.map((name, at) => (
                <Head key={at} name={name} column={at} table={table} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, at) => (
              <tr key={at}>
                {row.map((value, column) => (
                  <td key={column} className={table.numeric[column] ? "num" : ""}>
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="pv-foot">
        {rows.length > most ? `${most} of ${rows.length} rows` : `${rows.length} ${rows.length === 1 ? "row" : "rows"}`}
        {rows.length > most && (
          <button type="button" className="btn sm" onClick={() => setMost(most + SHOWN_AT_ONCE)}>
            Show more
          </button>
        )}
      </p>
    </>
  );
}

interface HeadProps {
  name: string;
  column: number;
  table: Table;
  order: Order | null;
  onOrder: (order: Order | null) => void;
}

function Head({ name, column, table, order, onOrder }: HeadProps) {
  const mine = order?.column === column ? order : null;
  const direction = mine?.descending ? "descending" : "ascending";
  return (
    <th scope="col" className={table.numeric[column] ? "num" : ""} {...(mine ? { "aria-sort": direction } : {})}>
      <button type="button" onClick={() => onOrder(nextOrder(order, column))}>
        {name || `column ${column + 1}`}
      </button>
    </th>
  );
}
