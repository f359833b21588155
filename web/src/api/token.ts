const KEY = "iceberg-maintainer.token";

/** The API token that was entered on this page; the browser keeps it until the tab is closed. */
export const readToken = (): string | null => sessionStorage.getItem(KEY);

export const keepToken = (token: string): void => sessionStorage.setItem(KEY, token);

export const forgetToken = (): void => sessionStorage.removeItem(KEY);
