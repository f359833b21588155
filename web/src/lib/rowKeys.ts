/** Marks the link that a row of a list of tables or jobs opens. */
export const ROW_LINK = { "data-row-link": "" } as const;

/** Moves the focus to the next row's link (1) or the one before (-1); Enter then follows it. */
export function focusRow(step: 1 | -1): void {
  if (document.querySelector('[role="dialog"]')) return;
  const links = [...document.querySelectorAll<HTMLElement>("[data-row-link]")];
  const active = document.activeElement;
  const present = links.findIndex((link) => link.closest("tr")?.contains(active));
  // Without a row in focus: the first one in sight.
  const start = links.findIndex((link) => link.getBoundingClientRect().top >= 0);
  links[present < 0 ? Math.max(0, start) : present + step]?.focus();
}
