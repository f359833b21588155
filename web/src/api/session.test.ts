import { expect, test } from "vitest";
import { findPlace, findRefusal } from "./session";
import type { Session } from "./types";

const session: Session = {
  is_needed: true,
  name: "person ada via page",
  grants: [
    { role: "viewer", prefixes: [""] },
    { role: "operator", prefixes: ["lake.sales."] },
  ],
  has_provider: true,
  has_tokens: false,
};

test("a role holds on the tables of its scope, and includes those before it", () => {
  expect(findRefusal(session, "operator", "lake.sales.orders")).toBeUndefined();
  expect(findRefusal(session, "viewer", "lake.hr.people")).toBeUndefined();
  expect(findRefusal(session, "operator", "lake.sales_old.orders")).toBe(
    "This needs the role operator; you have viewer here",
  );
  expect(findRefusal({ ...session, grants: [] }, "viewer", "a.b.c")).toContain("you have none");
});

test("without a sign-in nothing is refused", () => {
  expect(findRefusal({ ...session, is_needed: false, grants: [] }, "admin", "a.b.c")).toBe(
    undefined,
  );
  expect(findRefusal(undefined, "admin", "a.b.c")).toBeUndefined();
});

test("who may not see the sums of a place gets those of their own", () => {
  const all = { catalog: undefined, namespace: undefined, isOther: false };
  expect(findPlace(undefined, undefined, undefined)).toEqual(all);
  expect(findPlace(session, undefined, undefined)).toEqual(all);
  const grants: Session["grants"] = [{ role: "viewer", prefixes: ["lake.sales.", "pond."] }];
  const part = { ...session, grants };
  const own = { catalog: "lake", namespace: "sales", isOther: true };
  expect(findPlace(part, undefined, undefined)).toEqual(own);
  expect(findPlace(part, "lake", undefined)).toEqual(own);
  expect(findPlace(part, "lake", "sales_old")).toEqual(own);
  expect(findPlace(part, "lake", "sales.eu").isOther).toBe(false);
  expect(findPlace(part, "pond", undefined).isOther).toBe(false);
});
