import type { Band } from "../api/types";
import type { Tone } from "./words";

/** The colours of styles/base.css for charts, which cannot read CSS classes. */
export interface Palette {
  text: string;
  dim: string;
  line: string;
  surface: string;
  accent: string;
  small: string;
  around: string;
  fine: string;
  critical: string;
  info: string;
  neutral: string;
}

const LIGHT: Palette = {
  text: "#18212b",
  dim: "#52606f",
  line: "#e1e6ec",
  surface: "#ffffff",
  accent: "#0b6489",
  small: "#ea7a2e",
  around: "#e3b51e",
  fine: "#2f9e66",
  critical: "#d2323f",
  info: "#4ea8cc",
  neutral: "#a9b4bf",
};

const DARK: Palette = {
  text: "#dde5ed",
  dim: "#9fadbb",
  line: "#2a3542",
  surface: "#161d26",
  accent: "#4ea8cc",
  small: "#ee8440",
  around: "#dcb02a",
  fine: "#37b077",
  critical: "#e5505c",
  info: "#2a7596",
  neutral: "#8391a0",
};

/** A band's colour, as on its badge. */
export function colourOf(band: Band, palette: Palette): string {
  const { fine: healthy, around: watch, small: degraded, critical } = palette;
  return { healthy, watch, degraded, critical }[band];
}

/** The colour of a state, as on its badge. */
export function colourOfTone(tone: Tone, palette: Palette): string {
  const { fine: healthy, around: watch, critical, info, neutral } = palette;
  return { healthy, watch, critical, info, neutral }[tone];
}

export function paletteOf(scheme: "light" | "dark"): Palette {
  return scheme === "dark" ? DARK : LIGHT;
}
