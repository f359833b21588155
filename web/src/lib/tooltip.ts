import type { Palette } from "./palette";

/** The look of every chart's tooltip. */
export const styleTooltip = (palette: Palette) => ({
  backgroundColor: palette.surface,
  borderColor: palette.line,
  textStyle: { color: palette.text, fontSize: 12 },
});

/** A tooltip is HTML, and a name or a value may hold any character. */
export const escapeHtml = (text: string) =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
