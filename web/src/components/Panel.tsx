import { useId, type ReactNode } from "react";

interface PanelProps {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}

/** A titled part of a page. */
export function Panel({ title, aside, children }: PanelProps) {
  const id = useId();
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
