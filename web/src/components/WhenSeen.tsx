import { useEffect, useRef, useState, type ReactNode } from "react";

interface WhenSeenProps {
  /** The height of its place until then, in pixels. */
  height: number;
  children: ReactNode;
}

/** Draws, and asks the daemon for, what lies below the window only when it is scrolled to. */
export function WhenSeen({ height, children }: WhenSeenProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(!("IntersectionObserver" in globalThis));
  useEffect(() => {
    if (isSeen || !place.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return isSeen ? children : <div ref={place} style={{ height }} />;
}
