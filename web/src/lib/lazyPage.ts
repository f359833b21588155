import { createElement, use, type ComponentType, type ReactNode } from "react";

/** A part could not be loaded: the daemon does not answer, or an upgrade replaced the file. */
export class PartMissingError extends Error {
  constructor(cause: unknown) {
    super("A part of this page could not be loaded.", { cause });
    this.name = "PartMissingError";
  }
}

type Page = (() => ReactNode) & { preload: () => Promise<void> };

/** A page that loads when first needed, or by preload; throws PartMissingError on failure. */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): Page {
  let loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;
  let failure: PartMissingError | undefined;
  const preload = (): Promise<void> => {
    if (loaded) return Promise.resolve();
    failure = undefined;
    loading ??= load().then(
      (found) => {
        loaded = found[name];
      },
      (error: unknown) => {
        loading = undefined;
        failure = new PartMissingError(error);
      },
    );
    return loading;
  };
  function Lazy() {
    if (failure) throw failure;
    if (!loaded) use(preload());
    return loaded ? createElement(loaded) : null;
  }
  return Object.assign(Lazy, { preload });
}
