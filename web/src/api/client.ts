import createClient from "openapi-fetch";
import { prefix } from "../lib/prefix";
import type { components, paths } from "./schema";

export const UNAUTHORIZED = 401;
export const FORBIDDEN = 403;

type Problem = components["schemas"]["Problem"];

export const client = createClient<paths>({
  baseUrl: globalThis.location.origin + prefix,
  fetch: (request) => fetch(request),
});

/** A refusal of the daemon, or a request without an answer (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, detail: string) {
    super(detail);
    this.name = "ApiError";
    this.status = status;
    this.title = title;
  }
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === "object" &&
    body !== null &&
    "title" in body &&
    "detail" in body &&
    typeof body.detail === "string"
  );
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function settle<T>(request: Promise<Answer<T>>): Promise<Answer<T>> {
  let answer: Answer<T>;
  try {
    answer = await request;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(
      0,
      "The daemon does not answer",
      "It may be stopped or restarting. This page asks again by itself.",
    );
  }
  const { error, response } = answer;
  if (response.ok) return answer;
  if (isProblem(error)) throw new ApiError(response.status, error.title, error.detail);
  throw new ApiError(
    response.status,
    `The daemon answered ${response.status}`,
    response.statusText || "It gave no reason.",
  );
}

/** The answer's data; otherwise an ApiError that carries the problem's own words. */
export async function unwrap<T>(request: Promise<Answer<T>>): Promise<T> {
  const { data, response } = await settle(request);
  if (data === undefined)
    throw new ApiError(
      response.status,
      "The daemon answered without a body",
      "This page and the daemon may be of different versions.",
    );
  return data;
}

/** Waits for an answer that has no body. */
export async function carryOut(request: Promise<Answer<unknown>>): Promise<void> {
  await settle(request);
}
