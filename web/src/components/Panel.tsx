import { useId, useState, type ReactNode } from "react";

interface PanelProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  /** Folded to its title until it is opened, or open at first. */
  fold?: "closed" | "open" | undefined;
}

/** A titled part of a page. */
export function Panel({ title, aside, children, fold }: PanelProps) {
  const id = useId();
  // What a person looks at does not close when its job ends.
  const [isOpen, setOpen] = useState(fold === "open");
  if (fold !== undefined)
    return (
      <section className="panel" aria-labelledby={id}>
        <details
          className="fold"
          open={isOpen}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>
            <h2 id={id}>{title}</h2>
          </summary>
          {aside && <div className="fold-aside">{aside}</div>}
          {children}
        </details>
      </section>
    );
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

interface TileProps {
  label: string;
  value: ReactNode;
  children?: ReactNode;
  wide?: boolean;
}

/** One key figure with what puts it in proportion below it. */
export function Tile({ label, value, children, wide = false }: TileProps) {
  return (
    <div className={wide ? "tile tile-wide" : "tile"}>
      <dt>{label}</dt>
      <dd className="tile-value">{value}</dd>
      {children && <dd>{children}</dd>}
    </div>
  );
}
