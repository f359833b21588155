import type { ReactNode } from "react";

/** A column's heading; figures stand at the right. */
export type Heading = string | { figures: string };

/** A table that scrolls sideways in a narrow window; `label` names it for screen readers. */
export function Grid({
  label,
  headings,
  caption,
  children,
}: {
  label: string;
  headings?: Heading[];
  caption?: string;
  children: ReactNode;
}) {
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={label}>
      <table className="grid">
        {caption !== undefined && <caption className="hidden">{caption}</caption>}
        {headings !== undefined && (
          <thead>
            <tr>
              {headings.map((heading) =>
                typeof heading === "string" ? (
                  <th key={heading} scope="col">
                    {heading}
                  </th>
                ) : (
                  <th key={heading.figures} scope="col" className="num">
                    {heading.figures}
                  </th>
                ),
              )}
            </tr>
          </thead>
        )}
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
