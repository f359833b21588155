/** The path below which a proxy serves the page, such as "/maintainer"; the daemon writes it. */
export const prefix = document.querySelector<HTMLMetaElement>('meta[name="prefix"]')?.content ?? "";
