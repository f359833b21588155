import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { governedQuery } from "../../api/policies";
import type { JobRule, PolicyLayer } from "../../api/types";
import { LoadMore } from "../../components/LoadMore";
import { Empty, Loaded } from "../../components/notices";
import { PolicyValues } from "../../components/PolicyValues";
import { TableLink } from "../../components/TableLink";
import { capitalize, formatCount, pluralize } from "../../lib/format";
import { humanize, RULE_WORDS } from "../../lib/words";

function Governed({ name }: { name: string }) {
  const governed = useInfiniteQuery(governedQuery(name));
  return (
    <Loaded query={governed} label="the tables of the policy" height={64}>
      {({ pages }) => {
        const names = pages.flatMap((page) => page.items);
        if (names.length === 0)
          return <Empty title="No known table has such a name">The file has no effect yet.</Empty>;
        return (
          <div className="stack-tight">
            <p className="dim">
              {pluralize(pages[0]?.total ?? 0, "table")}; a more specific file may set other values
              for some of them.
            </p>
            <ul className="names">
              {names.map((table) => (
                <li key={table}>
                  <TableLink name={table} />
                </li>
              ))}
            </ul>
            <LoadMore query={governed} shown={`${formatCount(names.length)} shown`} />
          </div>
        );
      }}
    </Loaded>
  );
}

const valueOf = (layer: PolicyLayer, path: string) =>
  layer.values.find((value) => value.path === path)?.value;

const isRule = (name: string): name is JobRule => name in RULE_WORDS;

/** The rules that the file sets anything of; the others come from more general files. */
function sayRules(layer: PolicyLayer): string {
  const rules = layer.values.flatMap(({ path }) => /^rules\.([a-z_]+)/.exec(path)?.[1] ?? []);
  const words = [...new Set(rules)].map((rule) =>
    isRule(rule) ? RULE_WORDS[rule] : humanize(rule),
  );
  return capitalize(words.join(", ").toLowerCase()) || "No rule of its own";
}

/** How many known tables the file governs; a file without any is a mistake more often than not. */
function TableCount({ name }: { name: string }) {
  const total = useInfiniteQuery(governedQuery(name)).data?.pages[0]?.total;
  if (total === undefined) return null;
  return total === 0 ? (
    <span className="badge badge-watch">No table</span>
  ) : (
    <>{pluralize(total, "table")}</>
  );
}

/** One policy file as a row: its patterns, mode and tables; its values are opened. */
export function LayerRow({ layer }: { layer: PolicyLayer }) {
  const [isOpen, setOpen] = useState(false);
  const mode = valueOf(layer, "mode");
  return (
    <details className="layer" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="layer-row">
        <h2>{layer.name}</h2>
        <span className="mono one-line">{layer.tables.join(", ")}</span>
        <span className={mode === "enforce" ? "badge badge-healthy" : "badge"}>
          {mode === undefined ? "mode not set" : capitalize(mode)}
        </span>
        <span className="num">
          <TableCount name={layer.name} />
        </span>
        <span className="dim one-line">{sayRules(layer)}</span>
      </summary>
      {isOpen && (
        <div className="stack-tight layer-body">
          <PolicyValues values={layer.values} caption={`Values of ${layer.name}`} />
          <Governed name={layer.name} />
        </div>
      )}
    </details>
  );
}
