import {
  ActionIcon,
  Button,
  createTheme,
  Modal,
  NativeSelect,
  TextInput,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from "@mantine/core";

/** White on shades 7 and above, and shade 2 on the dark surface, reach WCAG AA. */
const ice: MantineColorsTuple = [
  "#eaf5fa",
  "#d3e9f3",
  "#a9d6e9",
  "#7cc0dc",
  "#4ea8cc",
  "#2a90b8",
  "#1577a0",
  "#0b6489",
  "#0b5273",
  "#083f59",
];

/** Mantine's greys for dark mode, in the page's own slate. */
const dark: MantineColorsTuple = [
  "#dde5ed",
  "#b9c5d0",
  "#9fadbb",
  "#6b7a8a",
  "#3a4756",
  "#2a3542",
  "#1d2631",
  "#161d26",
  "#10171f",
  "#0b1016",
];

export const theme = createTheme({
  primaryColor: "ice",
  primaryShade: { light: 7, dark: 7 },
  colors: { ice, dark },
  defaultRadius: "sm",
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SFMono-Regular", "Cascadia Mono", Menlo, Consolas, ' +
    '"DejaVu Sans Mono", monospace',
  headings: {
    fontWeight: "620",
    sizes: {
      h1: { fontSize: "1.75rem" },
      h2: { fontSize: "1.25rem" },
      h3: { fontSize: "0.875rem" },
    },
  },
  cursorType: "pointer",
  components: {
    TextInput: TextInput.extend({ defaultProps: { size: "xs" } }),
    NativeSelect: NativeSelect.extend({ defaultProps: { size: "xs" } }),
    Button: Button.extend({ defaultProps: { size: "xs", variant: "default" } }),
    // A dialog's heading is no banner of the page.
    Modal: Modal.extend({
      defaultProps: { transitionProps: { duration: 0 }, attributes: { header: { role: "none" } } },
    }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "default" } }),
  },
});

/** Mantine's own text, border and link colours, replaced by those of styles.css's two palettes. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "#ffffff",
    "--mantine-color-text": "#18212b",
    "--mantine-color-dimmed": "#52606f",
    "--mantine-color-anchor": "#0b5c80",
    "--mantine-color-default-border": "#ccd4dc",
    "--mantine-color-placeholder": "#66737f",
    "--mantine-color-error": "#a61527",
  },
  dark: {
    "--mantine-color-body": "#161d26",
    "--mantine-color-text": "#dde5ed",
    "--mantine-color-dimmed": "#9fadbb",
    "--mantine-color-anchor": "#7cc4e0",
    "--mantine-color-default": "#1d2631",
    "--mantine-color-default-hover": "#26313e",
    "--mantine-color-default-color": "#dde5ed",
    "--mantine-color-default-border": "#3a4756",
    "--mantine-color-placeholder": "#93a1af",
    "--mantine-color-error": "#ff9aa5",
  },
});
